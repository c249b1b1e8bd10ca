import ssl
c = ssl.SSLContext()
c.verify_mode = ssl.VerifyMode.CERT_NONE
