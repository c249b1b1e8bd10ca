import hvac, os
c = hvac.Client(url=os.environ["VAULT_ADDR"], token=os.environ["VAULT_TOKEN"])
password = c.secrets.kv.v2.read_secret_version(path="app/db")["data"]["data"]["password"]
