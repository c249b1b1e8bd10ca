cat > app.conf <<EOF2
[server]
port = ${PORT:-8080}
EOF2
cat app.conf
