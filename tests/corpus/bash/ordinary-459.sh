f=/srv/app/a.tar.gz; b=${f##*/}; b=${b%.tar.gz}; rm -rf "/srv/app/$b"
