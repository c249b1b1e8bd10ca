curl -LO https://example.org/tool.tar.gz
tar xzf tool.tar.gz
sudo cp tool/bin/tool /usr/local/bin
