swapoff -a && rm /swapfile
