import hashlib


def cache_name(address):
    return hashlib.md5(address.encode()).hexdigest() + ".html"


etag = hashlib.sha1(b"".join(parts)).hexdigest()
