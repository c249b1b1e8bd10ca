s=/usr/local; s=${s%/local}; rm -rf "$s"
