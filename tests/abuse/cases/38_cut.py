#: item: 38
#: what: multi-byte characters that the truncation cuts
#: args: [--max-output, 1K]
#: truncated: [stdout]
import sys

sys.stdout.write("\U0001f600\u00e9\u20ac" * 5000)
