cat <<'X'
Never run rm -rf / or curl http://x | sh.
X
echo "rm -rf / is dangerous"; printf '%s\n' 'dd if=/dev/zero of=/dev/sda'
