import boto3, mimetypes, pathlib, sys
s3 = boto3.resource("s3")
b = s3.Bucket(sys.argv[1])
for p in pathlib.Path("public").rglob("*"):
    if p.is_file():
        b.upload_file(str(p), str(p.relative_to("public")), ExtraArgs={"ContentType": mimetypes.guess_type(p)[0] or "text/plain"})
