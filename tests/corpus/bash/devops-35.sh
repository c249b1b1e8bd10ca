sudo mv terraform /usr/local/bin/
