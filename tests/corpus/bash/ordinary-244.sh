diff -ru old new > changes.patch || true
comm -13 <(sort a) <(sort b)
cmp a b && echo same
