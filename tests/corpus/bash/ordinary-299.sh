grep -v '^#' /etc/hosts | awk '{print $2}'
