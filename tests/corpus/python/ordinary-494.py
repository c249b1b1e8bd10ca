env = {**os.environ, "PGPASSWORD": pw, "PATH": "/usr/bin:" + os.environ["PATH"]}
