sha256sum file | cut -d' ' -f1
