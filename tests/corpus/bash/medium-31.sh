systemctl --user restart app
journalctl --user -u app -n 20
