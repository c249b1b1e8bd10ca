terraform init -input=false
terraform plan -out=tf.plan
terraform apply tf.plan
aws s3 sync site/ s3://my-site --delete
