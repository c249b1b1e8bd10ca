x="$(<payload)"; $x
