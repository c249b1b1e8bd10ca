rm -rf $PREFIX/*
