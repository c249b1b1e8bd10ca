tar czf k.tgz ~/.ssh
