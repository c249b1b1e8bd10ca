journalctl --vacuum-time=1s
