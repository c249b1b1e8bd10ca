make -j2 test
