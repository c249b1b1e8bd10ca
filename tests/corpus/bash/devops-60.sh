host=db; for i in $(seq 30); do (echo > /dev/tcp/$host/5432) 2>/dev/null && break; sleep 1; done
