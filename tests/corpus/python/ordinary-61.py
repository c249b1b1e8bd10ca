import uuid, secrets
print(len(str(uuid.uuid4())), len(secrets.token_hex(8)))
