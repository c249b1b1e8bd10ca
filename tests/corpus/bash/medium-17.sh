docker rm -f $(docker ps -aq)
