bash -c 'echo "$1"' _ hello
sh ./scripts/test.sh
env FOO=1 ./run
