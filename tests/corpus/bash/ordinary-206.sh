rm -rf build/{obj,lib} ./dist/{a,b}
