import getpass
user = input("User: ")
password = getpass.getpass("Password: ")
print("ok" if password else "empty")
