def run(steps):
    for exec_step in steps:
        exec_step()
run([lambda: print("a")])
