mogrify -resize 50% -format png *.jpg
convert a.png b.png +append c.png
