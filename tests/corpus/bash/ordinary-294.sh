mkdir -p ~/.ssh
ssh-keyscan github.com >> ~/.ssh/known_hosts
