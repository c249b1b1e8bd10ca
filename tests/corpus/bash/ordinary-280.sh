kubectl create secret generic app --from-literal=password="$DB_PASSWORD" --dry-run=client -o yaml | kubectl apply -f -
kubectl get secret app -o json | jq -r '.data | map_values(@base64d)'
