select c in build test quit; do
  case $c in
    build) make;;
    test) make test;;
    quit) break;;
  esac
done
