while True:
    line = input("> ")
    if line == "quit": break
    print(line[::-1])
