cat ~/.netrc
