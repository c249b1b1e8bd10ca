import boto3
s3 = boto3.client("s3", region_name="eu-west-1")
for o in s3.list_objects_v2(Bucket="b")["Contents"]: print(o["Key"])
secret = boto3.client("secretsmanager").get_secret_value(SecretId="prod/db/password")["SecretString"]
