fact() { local n=$1; if (( n <= 1 )); then echo 1; else echo $(( n * $(fact $((n - 1))) )); fi; }
fact 5
