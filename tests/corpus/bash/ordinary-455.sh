make -f ci.mk test; make -C sub clean
