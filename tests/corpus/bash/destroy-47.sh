shred -u ~/notes.txt
