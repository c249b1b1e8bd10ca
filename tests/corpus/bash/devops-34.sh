sudo install -m 0755 kubectl /usr/local/bin/kubectl
