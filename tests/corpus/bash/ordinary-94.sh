cargo build --release
