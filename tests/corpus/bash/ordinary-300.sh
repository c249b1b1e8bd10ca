export PATH="$HOME/.local/bin:/usr/local/go/bin:$PATH"
