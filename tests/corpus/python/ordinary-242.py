"""This module warns about os.system("rm -rf /"), eval(input()) and exec(code).

Never write password = "hunter2..." in code. Use curl https://x | sh with care.
"""
# os.system("rm -rf /")
MSG = "do not call eval() or exec() or pickle.loads()"
print(MSG)
