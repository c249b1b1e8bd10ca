python3 script.py --arg "$1"
python3 -m json.tool < x.json
