parser.add_argument("--token", default=None, help="API token")
parser.add_argument("--api-key", default=os.environ.get("API_KEY"))
parser.add_argument("--secret-name", default="prod/app/db-credentials-v2")
