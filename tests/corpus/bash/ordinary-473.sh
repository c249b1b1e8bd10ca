kubectl create secret generic s --from-file=k=./k; helm install x c --set existingSecret=db-secret-v2
