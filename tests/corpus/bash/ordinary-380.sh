if [ "$(id -u)" -ne 0 ]; then echo "run as root" >&2; exit 1; fi
install -d -m 755 /opt/app/logs
