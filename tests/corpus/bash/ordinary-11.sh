BUILD=out
rm -rf "$BUILD"/*
mkdir -p "$BUILD"
