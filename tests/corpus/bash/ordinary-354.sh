git fetch --all
git checkout -b "release/$1"
git push origin "release/$1"
