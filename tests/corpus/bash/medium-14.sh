HISTFILE=/dev/null
