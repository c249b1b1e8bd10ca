import base64
png = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")
text = base64.b64decode("SGVsbG8sIFdvcmxkISBUaGlzIGlzIGEgdGVzdC4=").decode()
