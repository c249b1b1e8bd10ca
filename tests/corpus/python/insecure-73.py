import boto3
boto3.client('s3', verify=False)
