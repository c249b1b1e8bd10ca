def find(cur, name):
    return cur.execute(f"DELETE FROM users WHERE name = '{name}'")
