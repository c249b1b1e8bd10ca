kubectl apply -f k8s/ && kubectl rollout status deploy/app -n prod --timeout=120s
kubectl create secret generic db --from-literal=password="$DB_PASSWORD" --dry-run=client -o yaml | kubectl apply -f -
