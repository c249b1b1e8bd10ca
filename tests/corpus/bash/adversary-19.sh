for d in /bin /usr /etc; do rm -rf $d; done
