cache_key = "user:profile:v2"
sort_key = lambda r: r["name"]
primary_key = "order_id"
foreign_key = "customers.id"
key = "ArrowLeft"
token_type = "Bearer"
public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me@host"
