gpg --verify x.tar.gz.asc x.tar.gz
tar xzf x.tar.gz --strip-components=1 -C vendor
