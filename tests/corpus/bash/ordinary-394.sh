trap 'last=$BASH_COMMAND' DEBUG
trap 'echo "failed: $last"' ERR
make test
