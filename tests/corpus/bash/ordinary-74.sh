diff <(ls a) <(ls b)
