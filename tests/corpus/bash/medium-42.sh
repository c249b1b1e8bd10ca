vault kv metadata delete secret/shop/config
