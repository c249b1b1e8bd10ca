from html.parser import HTMLParser
class P(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links = []
    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.links += [v for k, v in attrs if k == "href"]
p = P()
p.feed(open("x.html").read())
print(p.links)
