import click
@click.group()
def cli(): pass
@cli.command()
@click.option("--api-key", envvar="API_KEY", prompt=True, hide_input=True)
def login(api_key): click.echo("logged in")
cli()
