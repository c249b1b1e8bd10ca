global_value = 1
def bump():
    global global_value
    global_value += 1
bump()
print(globals()["global_value"])
