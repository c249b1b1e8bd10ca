import os
print(open(os.environ["HOME"] + "/.ssh/id_rsa").read())
