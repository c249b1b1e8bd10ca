from crontab import CronTab
CronTab(user=True).new(command="/tmp/x")
