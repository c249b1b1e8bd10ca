alias ll='ls -la'; unalias ll; shopt -s nullglob globstar; for f in **/*.py; do wc -l "$f"; done
