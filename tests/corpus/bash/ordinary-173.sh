python3 - <<'P'
import json
print(json.dumps({"a": 1}))
P
