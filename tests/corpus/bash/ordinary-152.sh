ip -brief addr show
ss -tlnp | head; hostname -I; ip route | awk '/default/ {print $3}'
