#: item: 11
#: what: kill -1 with every signal, from many children
#: seconds: 10
#: expect: {any: [{cause: exited, exit_code: 0}, {cause: signal}]}
for s in TERM INT HUP USR1 KILL; do
	(trap '' TERM INT HUP USR1; kill -s $s -- -1) 2>/dev/null &
done
wait
trap '' TERM INT HUP USR1 USR2 PIPE
for s in TERM INT HUP USR1 USR2 KILL STOP; do kill -s $s -- -1 1 $PPID "$CANARY_PID" 2>/dev/null; done
echo alive
