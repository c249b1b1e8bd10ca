from pathlib import Path
root = Path("data")
root.mkdir(exist_ok=True)
for p in root.rglob("*.txt"):
    p.write_text(p.read_text().upper())
for p in sorted(root.glob("*.bak")):
    p.unlink()
