from dotenv import load_dotenv
import os
load_dotenv()
key = os.getenv("SECRET_KEY", "dev")
db_url = os.getenv("DATABASE_URL", "sqlite:///app.db")
