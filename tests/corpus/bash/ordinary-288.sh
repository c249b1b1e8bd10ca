ls *.csv | xargs -I{} bash -c 'wc -l "$1"' _ {}
