import getpass
user = input("user: ")
password = getpass.getpass("Password: ")
if len(password) < 8:
    print("password too short")
