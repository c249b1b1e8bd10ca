redis-cli -a "$REDIS_PASSWORD" --no-auth-warning ping; ldapsearch -x -W -b dc=x; sqlcmd -S h -E
