import click
@click.group()
def cli(): ...
@cli.command("exec")
@click.argument("name")
def exec_(name): click.echo(name)
@cli.command("eval")
def eval_(): click.echo("no")
if __name__ == "__main__": cli()
