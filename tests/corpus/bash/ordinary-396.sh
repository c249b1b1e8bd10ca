PAGER=cat git log --oneline | head -5
openssl req -new -key server.key -out server.csr -subj /CN=shop.test
