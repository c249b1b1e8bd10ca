curl -sL https://example.com/src.tar.gz | tar xz
cd src && make
