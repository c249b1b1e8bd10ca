host=$1
rsync -az --delete build/ "deploy@$host:/srv/app/"
ssh "deploy@$host" 'cd /srv/app && ./restart.sh'
scp config.yml "deploy@$host:/srv/app/"
