shopt -s nullglob
for f in *.JPG *.jpeg; do
  mv -n -- "$f" "${f%.*}.jpg"
done
