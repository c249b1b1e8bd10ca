DOC = """Never call eval() or exec() or os.system('rm -rf /') here."""
FORBIDDEN = ["eval", "exec", "os.system", "subprocess.run", "pickle.loads"]
print([w for w in FORBIDDEN if w in DOC])
