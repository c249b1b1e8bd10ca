python3 - <<'EOT'
import json, collections
c = collections.Counter(l.split()[0] for l in open("access.log"))
print(json.dumps(c.most_common(5)))
EOT
