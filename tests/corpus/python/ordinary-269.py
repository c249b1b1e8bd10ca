import re
PATTERNS = {
    "aws": re.compile(r"AKIA[0-9A-Z]{16}"),
    "github": re.compile(r"ghp_[A-Za-z0-9]{36}"),
    "pem": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
}
def scan(s):
    return [n for n, p in PATTERNS.items() if p.search(s)]
