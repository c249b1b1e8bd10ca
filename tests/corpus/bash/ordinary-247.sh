ffmpeg -i in.mp4 -vf scale=1280:-2 -c:v libx264 -crf 23 out.mp4
convert a.png -resize 50% b.png
