terraform init -input=false && terraform plan -out tf.plan && terraform apply tf.plan
