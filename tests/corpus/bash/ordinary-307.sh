BUILD=${BUILD:-build}
rm -rf "$BUILD"/*
