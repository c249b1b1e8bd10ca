import kubernetes
kubernetes.config.load_kube_config()
v1 = kubernetes.client.CoreV1Api()
for s in v1.list_namespaced_secret("default").items: print(s.metadata.name)
