history | tail -20
