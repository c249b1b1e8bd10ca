if [ "$(id -u)" -eq 0 ]; then echo "do not run as root"; exit 1; fi
