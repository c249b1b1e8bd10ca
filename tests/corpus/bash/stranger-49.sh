for l in /var/log/*.log; do : > "$l"; done
