def compile_report(rows):
    return "\n".join(map(str, rows))
print(compile_report([1, 2]))
