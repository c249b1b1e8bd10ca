#: item: 2
#: what: changes its own text and its inputs
import os
import sys

from probe import check, done, fails

me = os.path.abspath(sys.argv[0])
for path in {me, "/work/probe.py"}:
    if not os.path.isfile(path):
        continue
    fails("write " + path, os.open, path, os.O_WRONLY)
    fails("append " + path, os.open, path, os.O_WRONLY | os.O_APPEND)
    fails("truncate " + path, os.truncate, path, 0)
    fails("chmod " + path, os.chmod, path, 0o777)
check("no input was seen", os.path.isfile("/work/probe.py"))
done()
