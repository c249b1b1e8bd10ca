helm upgrade --install app ./chart --set image.tag="$TAG" --set db.password="$DB_PASSWORD" --wait
