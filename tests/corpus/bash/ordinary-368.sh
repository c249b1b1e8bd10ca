python3 - <<'E'
import json
print(json.dumps({"a": 1}))
E
