conf=${XDG_CONFIG_HOME:-$HOME/.config}/app
mkdir -p "$conf" && cp -n default.toml "$conf/config.toml"
