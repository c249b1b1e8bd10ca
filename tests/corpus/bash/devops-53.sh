/opt/homebrew/bin/brew update
"$HOME/.cargo/bin/cargo" build
