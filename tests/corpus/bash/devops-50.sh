curl "https://api.example.org/?token=$TOKEN"
git clone "https://x-access-token:${GITHUB_TOKEN}@github.com/o/r.git"
