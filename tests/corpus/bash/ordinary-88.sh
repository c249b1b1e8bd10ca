tee out.log < in
