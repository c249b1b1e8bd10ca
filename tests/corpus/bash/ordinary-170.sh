printf -v padded '%05d' 42
echo "$padded"
