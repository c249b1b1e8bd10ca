while :; do date; sleep 60; done
