#: item: 38
#: what: one line of a gigabyte
#: args: [--timeout, "30"]
#: expect: {cause: output, status: 137}
#: truncated: [stdout]
#: seconds: 25
import os

for _ in range(16384):
    os.write(1, b"x" * 65536)
