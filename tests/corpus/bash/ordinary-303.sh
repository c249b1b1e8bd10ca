docker exec -it app bash
docker exec app sh -c 'ls -l /data'
kubectl exec -it pod/app -- /bin/bash
