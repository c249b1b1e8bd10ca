source /tmp/env.sh
