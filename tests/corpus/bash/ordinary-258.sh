helm upgrade --install app ./chart -f values.yml --set image.tag="$TAG" --wait
helm history app
