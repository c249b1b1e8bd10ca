usermod -aG sudo x
