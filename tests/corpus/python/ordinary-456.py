config = {
    "password": "<your password>", "api_key": "YOUR_API_KEY", "token": "xxxxxxxxxxxx",
    "secret": "${SECRET}", "db": "postgres://user:password@localhost/db", "key": "changeme",
}
