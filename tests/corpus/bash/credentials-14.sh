while read l; do echo $l; done < /etc/shadow
