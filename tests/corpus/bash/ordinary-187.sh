p=/usr/local/lib/x.tar.gz
echo "${p##*/} ${p%.*} ${p/lib/share} ${p^^} ${#p} ${p:0:4}"
