import os
print(open(f"{os.environ['HOME']}/.aws/credentials").read())
