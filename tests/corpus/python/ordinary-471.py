from azure.identity import DefaultAzureCredential
from azure.keyvault.secrets import SecretClient
c = SecretClient(vault_url="https://kv.vault.azure.net/", credential=DefaultAzureCredential())
secret = c.get_secret("db-password").value
