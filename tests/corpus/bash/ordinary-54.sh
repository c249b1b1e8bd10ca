echo bHM= | base64 -d > out.txt
