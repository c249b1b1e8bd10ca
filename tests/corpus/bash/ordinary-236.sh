ver=$(grep -oP '(?<=version = ")[^"]+' pyproject.toml)
IFS=. read -r a b c <<< "$ver"
echo "$a.$b.$((c + 1))"
git tag -a "v$ver" -m "release $ver"
