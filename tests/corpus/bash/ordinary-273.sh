cat > .pre-commit-config.yaml <<'EOT'
repos: []
EOT
git diff --cached --name-only --diff-filter=ACM | grep '\.py$' | xargs -r ruff check
