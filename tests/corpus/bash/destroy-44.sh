chown -R me ~
