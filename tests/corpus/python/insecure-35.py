from paramiko import client
c = client.SSHClient()
c.set_missing_host_key_policy(client.WarningPolicy)
