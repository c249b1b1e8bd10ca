tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"; git clone --depth 1 https://github.com/example/app.git; cd app; make -j4 test
