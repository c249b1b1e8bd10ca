dir=/var
rm -rf $dir
