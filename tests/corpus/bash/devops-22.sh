until pg_isready -h localhost -q; do sleep 1; done
until curl -sf localhost:8080/ready; do ((++n > 30)) && exit 1; sleep 1; done
