mysql -e 'DROP DATABASE prod'
