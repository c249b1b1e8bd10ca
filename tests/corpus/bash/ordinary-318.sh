kubectl get secret db -o jsonpath='{.data.password}' | base64 -d
