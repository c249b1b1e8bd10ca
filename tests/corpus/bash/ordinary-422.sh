rm -rf build/ dist/ *.egg-info .pytest_cache
rm -f "$HOME/.cache/myapp/index"
rm -rf ~/.cache/pip
