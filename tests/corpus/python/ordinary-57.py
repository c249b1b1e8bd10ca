def open_account(name):
    return {"name": name}
def system(x):
    return x
print(open_account("a"), system(1))
