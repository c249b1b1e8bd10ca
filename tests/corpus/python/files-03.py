with open('/home/me/.aws/credentials') as f:
    print(f.read())
