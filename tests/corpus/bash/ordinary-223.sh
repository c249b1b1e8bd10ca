dir=$(mktemp -d /tmp/build.XXXXXX)
cp -r src "$dir"
(cd "$dir/src" && make)
rm -rf "$dir"
rm -rf /tmp/build.old
