az group delete --name prod --yes --no-wait
