sudo systemctl restart nginx
systemctl status nginx --no-pager
journalctl -u nginx -n 50 --no-pager
