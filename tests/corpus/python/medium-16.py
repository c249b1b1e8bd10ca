def eval(text):
    return len(text)
print(eval('abc'))
