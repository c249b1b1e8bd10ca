#: item: 18
#: what: the command unshare and friends
bad=0
for f in -U -Ur -m -n -p -i -u -C "-Urm" "-Urn" "-Urpf" "-UrT"; do
	unshare $f true 2>/dev/null && { echo "ESCAPE: unshare $f"; bad=1; }
done
for t in mnt net pid user uts ipc cgroup; do
	nsenter --$t=/proc/1/ns/$t true 2>/dev/null && { echo "ESCAPE: nsenter $t"; bad=1; }
done
command -v bwrap >/dev/null && bwrap --ro-bind / / true 2>/dev/null && { echo "ESCAPE: bwrap"; bad=1; }
exit $bad
