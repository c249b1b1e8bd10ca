#!/bin/bash
ns=${NS:-staging}
kubectl -n "$ns" apply -f k8s/
kubectl -n "$ns" rollout status deploy/app --timeout=120s
kubectl -n "$ns" get pods -o wide
kubectl -n "$ns" delete job migrate --ignore-not-found
