chmod 600 ~/.ssh/config; chmod 755 bin/*; chmod -R g+w shared/
