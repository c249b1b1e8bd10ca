grep -q '^app:' /etc/passwd && getent passwd app | cut -d: -f7
