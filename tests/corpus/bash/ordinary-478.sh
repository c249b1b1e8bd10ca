a="2024"; b="-01-15T00:00:00"; ts="$a$b"; name="backup-""$ts"".tar.gz"; tar czf "$name" data
