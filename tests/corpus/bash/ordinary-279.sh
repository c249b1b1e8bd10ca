case $(uname -s) in
  Darwin) sedi=(sed -i '');;
  *) sedi=(sed -i);;
esac
"${sedi[@]}" 's/foo/bar/' file.txt
