run() { echo "+ $*"; "$@"; }
run ls -l
run make
