docker run --privileged -it alpine sh
