chattr -R +i /etc
