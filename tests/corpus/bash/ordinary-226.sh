find images -name '*.png' -print0 | xargs -0 -P4 -n1 optipng -quiet
ls -1 *.flac | while read -r f; do ffmpeg -nostdin -i "$f" "${f%.flac}.mp3"; done
