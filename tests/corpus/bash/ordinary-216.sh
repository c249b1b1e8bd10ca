#!/bin/bash
zcat -f /var/log/nginx/access.log* | awk '{print $1}' | sort | uniq -c | sort -rn | head -20
grep -c ERROR /var/log/syslog
tail -n 100 /var/log/dpkg.log
