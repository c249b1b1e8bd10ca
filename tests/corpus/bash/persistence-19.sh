setcap cap_setuid+ep ./x
