mkdir -p out && rmdir out
