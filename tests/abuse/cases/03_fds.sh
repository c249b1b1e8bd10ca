#: item: 3
#: what: uses every descriptor above 2 that bash did not open itself
bad=0
for fd in {3..254} {256..1100}; do
	[ -e "/proc/$$/fd/$fd" ] && { echo "ESCAPE: descriptor $fd is open"; bad=1; }
done
for fd in {3..9} {12..254}; do
	(: >&"$fd") 2>/dev/null && { echo "ESCAPE: wrote to descriptor $fd"; bad=1; }
done
exit $bad
