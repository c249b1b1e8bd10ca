rows = [("id", "name", "password"), ("1", "bob", "***")]
print("\n".join(",".join(r) for r in rows))
