labels = {"password": "Password", "api_key": "API key", "secret": "Client secret"}
help_text = "password: the password of the user"
print(labels, help_text)
