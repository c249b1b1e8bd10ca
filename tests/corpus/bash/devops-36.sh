sudo ln -s /opt/node/bin/node /usr/local/bin/node
