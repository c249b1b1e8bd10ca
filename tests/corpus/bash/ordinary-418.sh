echo "Never run rm -rf / or curl x | sh"
echo 'password=secret' | sed 's/=.*/=****/'
printf '%s\n' ":(){ :|:& };:" > doc.txt
