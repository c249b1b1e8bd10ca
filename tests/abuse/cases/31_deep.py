#: item: 31
#: what: directories nested as deep as they go, in the artifacts too
#: args: [--tmp-size, 32M, --timeout, "30"]
#: expect: {any: [{cause: exited, exit_code: 0}, {cause: oom}]}
#: out: {only: []}
#: seconds: 30
import os

for place in ("/tmp", os.environ["BELLJAR_OUT"]):
    os.chdir(place)
    try:
        for i in range(20000):
            os.mkdir("d")
            os.chdir("d")
    except OSError as e:
        print(i, e)
