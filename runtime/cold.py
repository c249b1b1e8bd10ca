

prepare()
start(sys.argv[1], sys.argv[2] == "check", sys.argv[3:])
