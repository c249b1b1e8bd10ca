#: item: 1
#: what: searches the whole tree for the canary and for readable secrets
bad=0
escape() { echo "ESCAPE: $*"; bad=1; }
found=$(find / -name "$CANARY_NAME*" -not -path '/proc/*' 2>/dev/null)
[ -z "$found" ] || escape "found $found"
found=$(find /root /home /var /run /srv /boot -type f 2>/dev/null | head -5)
[ -z "$found" ] || escape "found $found"
while IFS=: read -r user hash _; do
	escape "read the hash of $user"
done 2>/dev/null </etc/shadow
IFS=: read -ra files <<<"$CANARY_FILES"
for f in "${files[@]}"; do
	cat "$f" 2>/dev/null && escape "cat $f"
	[ -e "$f" ] && escape "$f exists"
	{ : >>"$f"; } 2>/dev/null && [ "$(stat -c %s "$f")" != 0 ] && escape "wrote the host's $f"
done
env | grep -v ^CANARY_ | grep -q canary- && escape "a token in the environment"
allowed=' PATH HOME PWD OLDPWD SHLVL _ LANG LC_ALL TERM TMPDIR USER LOGNAME BELLJAR_OUT TZ SHELL '
for name in $(compgen -e); do
	case $name in
	CANARY_* | PYTHON* | BELLJAR_*) ;;
	*) [[ $allowed == *" $name "* ]] || escape "the environment holds $name" ;;
	esac
done
exit $bad
