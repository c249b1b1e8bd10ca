fmt = "{}:{}@{}".format("user", "password", "localhost")
