import http.server
http.server.test(HandlerClass=http.server.CGIHTTPRequestHandler)
