vault kv get -field=value secret/shop/config > /dev/null
gh pr list --state open
glab ci status
