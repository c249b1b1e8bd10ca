cp -r src dst
