t = open("/var/run/secrets/kubernetes.io/serviceaccount/token").read()
