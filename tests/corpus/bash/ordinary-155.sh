if [ -f run.pid ]; then kill -TERM "$(cat run.pid)" && rm -f run.pid; fi
kill -0 "$PPID"
