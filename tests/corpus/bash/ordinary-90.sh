crontab_file=jobs.txt
echo $crontab_file
