sha="e3b0c44298fc1c14""9afbf4c8996fb92427ae41e4649b934ca495991b7852b855"; echo "$sha  f" | sha256sum -c
