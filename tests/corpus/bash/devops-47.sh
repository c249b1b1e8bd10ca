sudo iptables -L -n
sudo ufw status
