systemctl mask --now auditd
