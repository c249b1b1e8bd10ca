rm -rf "$WORKSPACE/target" "$HOME/.cache/pip"
