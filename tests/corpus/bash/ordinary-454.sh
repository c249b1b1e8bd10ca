cat > Makefile <<'E'
OUT = build
clean:
	rm -rf $(OUT) *.o
install: all
	install -m 755 app $(DESTDIR)/usr/bin/app
E
make -j4 && make DESTDIR=./pkg install
