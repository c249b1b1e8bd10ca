export PATH="$HOME/.local/bin:$PATH"
export LANG=C.UTF-8 LC_ALL=C
export EDITOR=vim
