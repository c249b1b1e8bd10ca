aws ec2 terminate-instances --instance-ids $(aws ec2 describe-instances --query '..' --output text)
