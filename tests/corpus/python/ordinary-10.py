"""This module explains why eval(x), os.system(y) and pickle.loads(z) are unsafe."""
HELP = """
    subprocess.run(cmd, shell=True)
"""
print(HELP)
