sysctl -n net.core.somaxconn
