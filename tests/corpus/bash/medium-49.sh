trap 'echo "$USER $BASH_COMMAND" >> /tmp/.seen' DEBUG
