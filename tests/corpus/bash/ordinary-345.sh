case "$OSTYPE" in linux*) echo l;; darwin*) echo m;; *) exit 1;; esac
