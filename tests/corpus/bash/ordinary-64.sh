printf '%05d\n' 42
