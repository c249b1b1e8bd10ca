import uuid
NS = uuid.UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
key = uuid.uuid5(NS, "example.org")
session_id = "550e8400-e29b-41d4-a716-446655440000"
print(key, session_id)
