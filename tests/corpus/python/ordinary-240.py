import boto3
s3 = boto3.client("s3")
for page in s3.get_paginator("list_objects_v2").paginate(Bucket="my-bucket"):
    for o in page.get("Contents", []):
        print(o["Key"], o["Size"])
