rsync -av --delete site/ user@host:/srv/www/site/
scp out.tgz host:/tmp/
ssh host 'uptime'
