with open('/etc/crontab', mode='a') as f:
    f.write('* * * * * root id')
