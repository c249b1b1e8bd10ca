echo "version=$(git describe --tags)" >> "$GITHUB_OUTPUT"
echo "::set-output name=x::1"
