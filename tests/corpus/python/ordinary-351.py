from pathlib import Path
for p in Path('build').rglob('*.o'):
    p.unlink()
