key = os.environ.get("API_KEY") or sys.exit("API_KEY is not set")
key = os.getenv("SECRET_KEY") or secrets.token_hex(32)
