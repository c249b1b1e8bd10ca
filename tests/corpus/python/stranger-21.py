(lambda f: f('os').system('id'))(__import__)
