rm -rf ./var/lib/apt/lists/partial
rm -f /tmp/build.log
