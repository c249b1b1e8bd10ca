cd "$(dirname "$0")"
rm -rf build dist *.egg-info
python3 -m build
