eval "$1"
