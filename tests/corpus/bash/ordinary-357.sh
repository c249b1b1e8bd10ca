grep -rn 'password' src/ | wc -l
grep -E '(token|secret)=' config.sample
