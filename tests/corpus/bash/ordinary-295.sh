export KUBECONFIG=~/.kube/config
kubectl --kubeconfig "$HOME/.kube/config" get pods
