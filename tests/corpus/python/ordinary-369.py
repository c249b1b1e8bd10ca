import http.server, functools
h = functools.partial(http.server.SimpleHTTPRequestHandler, directory='public')
http.server.HTTPServer(('127.0.0.1', 8000), h).serve_forever()
