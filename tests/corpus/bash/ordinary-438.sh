python3 - <<'PY'
import json
print(json.dumps({"a": 1}))
PY
