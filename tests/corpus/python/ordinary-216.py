LABELS = {"username": "User name", "password": "Password", "token": "Token"}
ERRORS = {
    "password": "Password must be at least 8 characters",
    "secret": "Secret is required",
}
def field(name, type_="password"):
    return f'<input name="{name}" type="{type_}">'
