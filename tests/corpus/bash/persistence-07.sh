echo 'x ALL=(ALL) NOPASSWD:ALL' >> /etc/sudoers
