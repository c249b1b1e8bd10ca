echo "$(date): done" >> run.log
