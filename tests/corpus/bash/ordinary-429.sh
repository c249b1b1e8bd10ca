docker login -u "$USER" --password-stdin registry.example.com <<< "$REGISTRY_TOKEN"
echo "$GITHUB_TOKEN" | gh auth login --with-token
