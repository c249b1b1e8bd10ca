find . -name '*.mov' -print0 | while IFS= read -r -d '' f; do
  ffmpeg -nostdin -loglevel error -i "$f" -c:v libx265 "${f%.mov}.mp4" && echo "done $f"
done
