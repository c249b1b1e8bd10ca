diff <(sort a) <(sort b); comm -12 <(sort a) <(sort b); join -t, a b
