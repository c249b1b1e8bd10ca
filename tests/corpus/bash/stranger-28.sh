strings /dev/mem | grep -i pass
