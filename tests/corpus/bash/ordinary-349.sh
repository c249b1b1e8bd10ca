for f in *.jpg; do
  convert "$f" -resize 50% "thumb-$f"
done
