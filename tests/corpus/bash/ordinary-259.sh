hyperfine --warmup 3 './a' './b'
time ./a > /dev/null
/usr/bin/time -v ./b
