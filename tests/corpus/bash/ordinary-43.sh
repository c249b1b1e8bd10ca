mv a b
