docker login -u "$U" -p "$P" r; az login --identity; oc login -u "$U" -p "$P"; gh auth status
