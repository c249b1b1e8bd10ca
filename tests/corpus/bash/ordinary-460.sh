get() { local -n ref=$1; ref=5; }; get x; echo "$x"
