sed -e 's/a/b/' -e '/^$/d' in > out
