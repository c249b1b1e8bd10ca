f() { local -n out=$1; out=$(date); }
f now; echo "$now"
