#: item: 38
#: what: NUL, invalid UTF-8, surrogates, escapes, every byte, on both streams
import os

data = bytes(range(256)) + b"\x00\x00" + b"\xff\xfe\xc3\x28\xe2\x82\xf0\x9f\x98" + \
    b"\xed\xa0\x80\xed\xbf\xbf" + b"\xf4\x90\x80\x80\xc0\xaf" + b"\x1b[2J\x1b]0;t\x07\x1b[31m" + \
    "\u2028\u2029\ufeff\u202e\U0001f600".encode() + b'"}\n{"id":"x"}\r\n\\u0000'
for fd in (1, 2):
    os.write(fd, data)
