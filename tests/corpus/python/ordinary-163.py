import re
PATTERNS = {"aws": re.compile(r"AKIA[0-9A-Z]{16}"), "gh": re.compile(r"ghp_[A-Za-z0-9]{36}"), "key": re.compile(r"-----BEGIN (RSA )?PRIVATE KEY-----")}
print([n for n, p in PATTERNS.items() if p.search("x")])
