import boto3
s = boto3.client('s3')
s.put_bucket_acl(Bucket='x', ACL='public-read-write')
