export TF_VAR_db_password="$DB_PASSWORD"
terraform fmt -check && terraform validate && terraform plan -out plan.bin
