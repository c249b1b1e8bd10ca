diff <(sort a) <(sort b) || true
comm -12 <(sort a) <(sort b)
