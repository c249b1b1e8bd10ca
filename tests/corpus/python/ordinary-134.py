primary_key = "id"
sort_key = "created_at"
key = "user:1234:profile"
cache_key = f"session:{key}"
partition_key = "customer_id"
public_key = "abc"
print(primary_key, sort_key, key, cache_key, partition_key, public_key)
