gpg --verify file.sig file
sha512sum --check SUMS
