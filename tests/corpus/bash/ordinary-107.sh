base64 -d < in.b64 > out.bin
echo -n hello | base64
printf 'hello' | xxd -p
