set +o history
