touch a b && rm a b
