tar czf backup.tgz docs
