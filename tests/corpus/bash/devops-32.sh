scp -i ~/.ssh/deploy.pem x.tgz deploy@example.org:/srv/
