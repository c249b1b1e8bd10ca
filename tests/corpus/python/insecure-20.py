import telnetlib
telnetlib.Telnet("router").write(b"admin\n")
