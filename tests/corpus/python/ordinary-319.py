import os
os.get_terminal_size()
print("\033[2J")
