import os.path
if os.path.exists("x") and os.path.isfile("x"):
    os.remove("x")
