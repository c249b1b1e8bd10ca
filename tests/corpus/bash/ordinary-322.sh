SHELL=/bin/bash make all
make SHELL=/bin/bash test
[ "$SHELL" = /bin/bash ] && echo bash
