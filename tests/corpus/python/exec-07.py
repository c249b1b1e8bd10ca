source = input()
code = compile(source, "<input>", "exec")
exec(code)
