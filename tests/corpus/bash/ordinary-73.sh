comm -12 <(sort a) <(sort b)
