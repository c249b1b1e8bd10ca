kubectl delete all --all --all-namespaces
