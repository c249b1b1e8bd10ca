import os
token = os.environ["TOKEN"]
print(len(token))
