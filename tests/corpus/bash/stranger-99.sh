: "${ROOT:=/}"; rm -rf "$ROOT"
