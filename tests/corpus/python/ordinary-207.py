from string import Template
from pathlib import Path
tpl = Template("Dear $name,\nyour password expires on $date.\n")
for n, d in [("Ann", "2024-01-01")]:
    Path(f"out_{n}.txt").write_text(tpl.substitute(name=n, date=d))
