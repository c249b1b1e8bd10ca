sudo rm -rf /opt/myapp-1.0
rm -rf /usr/local/go && tar -C /usr/local -xzf go.tar.gz
