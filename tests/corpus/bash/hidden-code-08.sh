bash -c "$1"
