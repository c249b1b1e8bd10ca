docker build --build-arg VERSION="$CI_COMMIT_SHORT_SHA" -t app:ci .
docker run --rm -e DATABASE_URL=sqlite:///:memory: app:ci pytest -q
echo "$REGISTRY_PASSWORD" | docker login -u "$REGISTRY_USER" --password-stdin registry.example.org
docker push registry.example.org/app:ci
