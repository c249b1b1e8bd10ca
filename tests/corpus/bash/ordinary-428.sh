gpg --batch --verify app.tar.gz.asc app.tar.gz && sha256sum -c SHA256SUMS
