code = "for i in range(3): print(i)"
exec(code)
