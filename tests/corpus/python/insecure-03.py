import socketserver
s = make()
s.bind(("0.0.0.0", 8080))
