kubectl get pods -n app
kubectl rollout restart deployment/web -n app
kubectl delete pod web-1 -n app
