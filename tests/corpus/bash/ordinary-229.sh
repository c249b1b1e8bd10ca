echo "Never run rm -rf /"
# rm -rf /
printf '%s\n' "eval is evil" 'chmod 777 /'
grep -rn 'eval(' src | grep -v test
