python3 -m pip install --user --upgrade pip wheel
