sed -e 's/one/two/' -e '/^#/d' -e '$d' f > g
sed -n 's/.*version: \(.*\)/\1/p' f
sed 's/a/e/g; s/b/c/' f
