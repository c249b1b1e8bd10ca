ssh-keygen -t ed25519 -N '' -f ./deploy_key
ssh-keyscan github.com > known_hosts
