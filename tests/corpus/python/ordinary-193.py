KEYS = {"up": "KEY_UP", "enter": "KEY_ENTER", "secret": "KEY_F13"}
def on_key(key):
    if key == "KEY_UP": return 1
