#!/bin/sh
set -e
: "${IMAGE:?}" "${KUBE_CONTEXT:?}"
kubectl config use-context "$KUBE_CONTEXT"
kubectl set image deploy/web web="$IMAGE"
kubectl rollout status deploy/web || kubectl rollout undo deploy/web
