crontab -l > crontab.bak
