type -P python3 || echo missing
