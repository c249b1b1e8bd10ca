$(which python3) -m venv v; "$(command -v node)" x.js; `which git` status
