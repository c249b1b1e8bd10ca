trap 'echo interrupted; exit 130' INT TERM
