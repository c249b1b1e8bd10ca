#: item: 12
#: what: nohup, setsid, disown, coproc; a grandchild keeps stdout open
#: seconds: 5
#: stdout: "^started\n$"
trap '' HUP TERM
nohup sleep 1001 2>/dev/null &
setsid sleep 1002 &
(setsid setsid sleep 1003 & )
sleep 1004 & disown -a
coproc sleep 1005
(while :; do sleep 0.01; done) &
echo started
exit 0
