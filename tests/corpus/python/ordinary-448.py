from rich.console import Console
from rich.table import Table
t = Table(title="x"); t.add_column("a"); t.add_row("1"); Console().print(t)
