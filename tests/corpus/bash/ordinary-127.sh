df -h / | awk 'NR==2 {print $5}'
du -sh -- * | sort -h
free -m; uptime; uname -a; nproc
