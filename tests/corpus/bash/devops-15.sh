#!/bin/bash
for h in web1 web2 db1; do
  ssh -i ~/.ssh/deploy_ed25519 -o BatchMode=yes "ops@$h" 'uptime; df -h /' | sed "s/^/$h: /"
done
