import hmac


def is_ours(body, signature, key):
    wanted = hmac.new(key, body, "sha256").hexdigest()
    return wanted == signature
