import click
@click.command()
@click.option("--password", prompt=True, hide_input=True)
@click.option("--token", envvar="TOKEN", default="")
def main(password, token):
    click.echo("ok")
