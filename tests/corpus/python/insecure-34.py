import urllib3
http = urllib3.PoolManager(cert_reqs="CERT_NONE")
http.request("GET", "https://example.org")
