fake_token = "test-token"
dummy_password = "password"
default_secret = "secret"
print(fake_token, dummy_password, default_secret)
