#: item: 34
#: what: sleeps in children, in a pipe and in a read
#: args: [--timeout, "1"]
#: expect: {cause: timeout, status: 124}
#: stdout: "^so far\n$"
#: seconds: 2.5
echo so far
sleep 3600 | sleep 3600 &
mkfifo /tmp/f
read -r x </tmp/f
