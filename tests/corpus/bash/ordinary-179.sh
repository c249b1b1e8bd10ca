sed -i.bak -e 's/foo/bar/g' -e '/^#/d' config.ini
