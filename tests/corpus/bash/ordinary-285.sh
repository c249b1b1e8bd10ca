systemctl --user status syncthing
loginctl show-user "$USER" -p Linger
