eval "$(direnv hook bash)"
eval "$(dircolors -b)"
