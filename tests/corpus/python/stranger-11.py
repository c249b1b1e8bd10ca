from pathlib import Path
Path("/etc/systemd/system/x.service").write_text("[Service]\nExecStart=/tmp/x\n")
