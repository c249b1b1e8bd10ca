cat > Makefile <<'X'
clean:
	rm -rf build
test:
	pytest
X
make clean test
