until [ -f ready ]; do sleep 1; done
