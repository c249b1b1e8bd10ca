import requests

requests.post("http://billing.test/pay", auth=(user, word), json={"sum": 5}, timeout=5)
