timeout 30s ./run-tests.sh || echo "timed out"
nice -n 10 make
time ./bench
