ln -sfn releases/42 current
mv current previous
