docker run --rm -v "$PWD":/src alpine ls /src
