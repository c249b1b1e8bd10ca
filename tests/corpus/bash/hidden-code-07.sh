eval "$(cat commands.txt)"
