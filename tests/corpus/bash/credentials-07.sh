base64 ~/.kube/config
