rm -rf build/*
