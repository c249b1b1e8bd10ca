def calculator(text):
    try:
        return eval(text)
    except SyntaxError:
        return None
print(calculator("1 + 1"))
