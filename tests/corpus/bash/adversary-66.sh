kubectl exec p -- sh -c 'rm -rf /'
