kubectl apply -f k8s/
kubectl rollout status deploy/app
