diff -u a b > patch.diff || true
