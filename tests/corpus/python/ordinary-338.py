import getpass
password = getpass.getpass('Password: ')
secret = input('secret? ')
