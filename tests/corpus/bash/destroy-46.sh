mv ~ /tmp/x
