#: item: 27
#: what: the same by /dev/tcp and by whatever tools there are
#: seconds: 8
bad=0
for host in 127.0.0.1 localhost ::1 169.254.169.254 10.0.0.1; do
	(exec 3<>"/dev/tcp/$host/$CANARY_PORT") 2>/dev/null && { echo "ESCAPE: tcp $host"; bad=1; }
done
(echo x >"/dev/udp/127.0.0.1/$CANARY_PORT") 2>/dev/null
for t in "curl -sm1" "wget -qT1 -O-" "nc -w1 -z"; do
	command -v "${t%% *}" >/dev/null || continue
	$t "http://127.0.0.1:$CANARY_PORT" >/dev/null 2>&1 && { echo "ESCAPE: $t"; bad=1; }
done
command -v ip >/dev/null && ip link add dummy0 type dummy 2>/dev/null && { echo "ESCAPE: ip link"; bad=1; }
exit $bad
