docker run --rm -v "$PWD":/src -w /src node:20 npm test
docker exec web sh -c 'nginx -t && nginx -s reload'
