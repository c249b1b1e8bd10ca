cd "$(dirname "$0")" && pwd
