import tornado.web
app = tornado.web.Application([], debug=True, autoreload=True)
