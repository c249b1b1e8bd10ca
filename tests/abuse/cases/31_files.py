#: item: 31
#: what: a million files, then deep directories
#: args: [--tmp-size, 32M, --timeout, "30"]
#: expect: {any: [{cause: exited, exit_code: 0}, {cause: oom}]}
#: seconds: 30
import errno
import os
import sys

for place in ("/tmp", "/work/out"):
    n = 0
    try:
        while n < 1000000:
            os.close(os.open(f"{place}/{n:07}", os.O_CREAT | os.O_WRONLY, 0o600))
            n += 1
        print(f"ESCAPE: a million files in {place}")
        sys.exit(1)
    except OSError as e:
        print(place, n, errno.errorcode[e.errno])
        assert e.errno in (errno.ENOSPC, errno.EDQUOT, errno.ENOMEM), e
