import getpass
password = getpass.getpass("Password: ")
secret = input("Secret: ")
print(len(password) + len(secret))
