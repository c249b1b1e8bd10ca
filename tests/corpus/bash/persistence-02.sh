crontab jobs.txt
