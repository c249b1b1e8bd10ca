systemctl stop firewalld
