OUT=${OUT:-out}
mkdir -p "$OUT"
rm -rf "${OUT:?}"/*
