import re, string
def check_password(password: str) -> list[str]:
    errors = []
    if len(password) < 12:
        errors.append("password too short")
    if not re.search(r"[A-Z]", password):
        errors.append("password needs an upper-case letter")
    if password.lower() in {"password", "letmein", "qwerty123"}:
        errors.append("password is common")
    return errors
assert check_password("abc")
