import uuid
NAMESPACE = uuid.UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
session_id = str(uuid.uuid4())
request_id = "123e4567-e89b-12d3-a456-426614174000"
print(uuid.uuid5(NAMESPACE, request_id), session_id)
