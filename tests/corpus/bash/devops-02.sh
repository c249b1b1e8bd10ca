set -eu
IMG=registry.example.org/app
TAG=$(git describe --always --tags)
docker build -t "$IMG:$TAG" .
docker run --rm -v "$PWD:/src" -w /src "$IMG:$TAG" make test
docker push "$IMG:$TAG"
docker image prune -f
