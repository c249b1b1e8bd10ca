select x in start stop quit; do
  case $x in quit) break ;; *) echo "$x" ;; esac
done < /dev/null
