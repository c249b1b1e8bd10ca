f() { local n=$1; (( n <= 1 )) && { echo 1; return; }; echo $(( n * $(f $((n - 1))) )); }
f 5
