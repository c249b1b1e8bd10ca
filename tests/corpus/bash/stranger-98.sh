p="$HOME/x"; p=${p%/*}; rm -rf "$p"
