walk() { for f in "$1"/*; do if [ -d "$f" ]; then walk "$f"; else echo "$f"; fi; done; }
walk .
