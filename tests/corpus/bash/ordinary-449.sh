crontab -l | grep backup; systemctl list-timers; at -l
