from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlparse


class Hello(BaseHTTPRequestHandler):
    def do_GET(self):
        asked = parse_qs(urlparse(self.path).query)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(("<p>Hello " + asked["name"][0] + "</p>").encode())


HTTPServer(("127.0.0.1", 8000), Hello).serve_forever()
