parallel -j4 convert {} {.}.webp ::: images/*.png
find . -name '*.sh' -print0 | xargs -0 shellcheck
