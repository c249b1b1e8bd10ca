#!/bin/sh
set -e
ver=1.29.0
curl -fsSLo kubectl "https://dl.k8s.io/release/v${ver}/bin/linux/amd64/kubectl"
echo "$(cat kubectl.sha256)  kubectl" | sha256sum --check
sudo install -m 0755 kubectl /usr/local/bin/kubectl
