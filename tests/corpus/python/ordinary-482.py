cfg.set("db", "password", password); cfg.setdefault("token", None); setattr(o, "secret", value)
