find / -name .gnupg -type d
