shred ~/.zsh_history
