echo root:x | chpasswd
