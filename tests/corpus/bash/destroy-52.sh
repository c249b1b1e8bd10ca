mkdir -p empty
rsync -a --delete empty/ /
