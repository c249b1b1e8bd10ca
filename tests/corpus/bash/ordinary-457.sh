: "${OUT:=build}" "${CACHE:=$HOME/.cache/app}"; rm -rf "$OUT" "$CACHE/tmp"; mkdir -p "$OUT"
