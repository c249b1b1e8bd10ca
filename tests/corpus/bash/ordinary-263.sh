#!/bin/sh
set -e
rm -rf build && mkdir -p build/usr/local/bin build/DEBIAN
install -m 755 tool build/usr/local/bin/
cat > build/DEBIAN/control <<EOT
Package: tool
Version: $(git describe --tags)
EOT
dpkg-deb --build build "tool.deb"
