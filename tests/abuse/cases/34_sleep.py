#: item: 34
#: what: sleeps for an hour
#: args: [--timeout, "1"]
#: expect: {cause: timeout, status: 124}
#: stdout: "^so far\n$"
#: seconds: 2.5
import time

print("so far", flush=True)
time.sleep(3600)
