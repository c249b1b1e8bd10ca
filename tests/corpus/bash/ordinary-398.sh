grep -ri password src tests
find . -name '*.gpg'
auditctl -l
