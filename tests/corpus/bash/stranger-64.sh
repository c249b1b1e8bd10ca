auditctl -D
