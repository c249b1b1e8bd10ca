find ~/Downloads -name '*.part' -delete
