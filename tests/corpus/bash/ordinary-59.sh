paste -d, a b | column -t
