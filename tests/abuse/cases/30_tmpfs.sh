#: item: 30
#: what: fills every tmpfs; its pages are memory
#: args: [--memory, 64M, --tmp-size, 256M]
#: expect: {any: [{cause: oom, status: 137}]}
#: modes: [root, rootless]
#: seconds: 15
for d in /tmp /work /dev/shm; do
	head -c 120M /dev/zero >"$d/fill" 2>/dev/null
done
sleep 1
exit 0
