install -d "$HOME/.local/bin"
install -m 755 tool "$HOME/.local/bin/tool"
PREFIX=${PREFIX:-$HOME/.local}
make install PREFIX="$PREFIX"
