mapfile -C 'rm -rf /' -c 1 a < f
