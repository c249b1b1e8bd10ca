import getpass
password = getpass.getpass()
print(len(password))
