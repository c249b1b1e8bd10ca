tar czf backup-$(date +%F).tar.gz --exclude=.git .
tar tzf backup-*.tar.gz | head
