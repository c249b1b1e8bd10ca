install -m 755 tool ~/.local/bin/tool
