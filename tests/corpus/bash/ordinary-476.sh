git push https://x-access-token:${GITHUB_TOKEN}@github.com/o/r.git HEAD; git clone git@github.com:o/r.git
