source ~/.bashrc
grep -q foo ~/.bashrc || echo missing
