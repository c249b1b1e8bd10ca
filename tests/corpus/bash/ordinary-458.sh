dir=$(pwd); dir=${dir%/scripts}; cd "$dir" && rm -rf dist
