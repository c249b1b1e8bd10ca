MYSQL_PWD="$PW" mysql -u app -h "$H" -e 'show tables'
sshpass -e ssh u@h uptime
