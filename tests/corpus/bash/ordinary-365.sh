exec 3> log.txt
echo start >&3
exec 3>&-
