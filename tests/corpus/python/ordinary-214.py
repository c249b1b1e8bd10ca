import configparser
import os
cfg = configparser.ConfigParser()
cfg.read_string("""
[db]
user = app
password = %(DB_PASSWORD)s
""", )
password = os.environ.get("DB_PASSWORD")
token = cfg.get("db", "token", fallback=None)
secret_name = "db/creds"
api_key_header = "X-Api-Key"
PASSWORD_FIELD = "password"
