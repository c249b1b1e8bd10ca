vim -es -c '%s/a/b/g' -c 'wq' file.txt
ed -s file <<'EOT'
1,3d
w
q
EOT
