docker ps -aq --filter status=exited | xargs -r docker rm
docker image prune -f --filter until=168h
