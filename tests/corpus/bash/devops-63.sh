wait_for() { while ! (echo >/dev/tcp/"$1"/"$2") >/dev/null 2>&1; do sleep 0.5; done; }
wait_for redis 6379
