git clean -xdff ~
