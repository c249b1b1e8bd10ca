useradd -m -s /bin/bash x
