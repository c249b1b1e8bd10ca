gzip -k file && zcat file.gz | head
