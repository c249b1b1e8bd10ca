from xmlrpc.server import SimpleXMLRPCServer
s = SimpleXMLRPCServer(("0.0.0.0", 8000), allow_none=True)
