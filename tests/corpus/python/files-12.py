from pathlib import Path
key = Path('/root/.ssh/id_ed25519').read_text()
