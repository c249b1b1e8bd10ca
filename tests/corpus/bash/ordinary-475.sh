terraform apply -var-file=prod.tfvars -var "db_password=$DBPW"; vault kv get -field=password secret/db
