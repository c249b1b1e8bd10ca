t=$(mktemp); echo 'echo hi' > "$t"; sh "$t"; rm -f "$t"
