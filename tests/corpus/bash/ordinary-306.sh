while true; do ./poll.sh & sleep 60; done
