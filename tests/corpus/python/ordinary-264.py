import pwd
with open("/etc/passwd") as f:
    for line in f:
        name, *_ = line.split(":")
        print(name, pwd.getpwnam(name).pw_dir)
