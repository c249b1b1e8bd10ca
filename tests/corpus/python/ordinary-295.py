from functools import lru_cache
from pydantic_settings import BaseSettings
class Settings(BaseSettings):
    database_url: str = "sqlite:///./app.db"
    secret_key: str
    access_token_expire_minutes: int = 30
    jwt_algorithm: str = "HS256"
    smtp_password: str | None = None
    model_config = {"env_file": ".env"}
@lru_cache
def get(): return Settings()
