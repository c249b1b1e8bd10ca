for f in *.wav; do ffmpeg -loglevel error -y -i "$f" "${f%.wav}.mp3"; done
