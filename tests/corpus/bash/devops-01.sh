set -e
cd "$(dirname "$0")/.."
python3 -m venv .venv
. .venv/bin/activate
pip install -r requirements.txt
ruff check .
pytest -q --cov
rm -rf build dist ./*.egg-info
python -m build
