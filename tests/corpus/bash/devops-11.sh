eval "$(ssh-agent -s)"
eval "$(direnv hook bash)"
