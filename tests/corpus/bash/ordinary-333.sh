terraform workspace select prod && terraform plan
