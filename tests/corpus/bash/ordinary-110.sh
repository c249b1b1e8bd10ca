case "$(uname -s)" in
  Linux*) os=linux ;;
  Darwin*) os=mac ;;
  *) os=other ;;
esac
echo $os
