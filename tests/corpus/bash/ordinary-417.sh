grep -rn "password" --include='*.py' src | grep -v test > report.txt || true
grep -E 'AKIA[0-9A-Z]{16}' -r . && { echo "secret found"; exit 1; }
