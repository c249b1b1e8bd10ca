from pydantic import BaseModel, SecretStr, Field
class Settings(BaseModel):
    api_key: SecretStr = Field(..., env="API_KEY")
    password: str | None = None
    token_url: str = "https://example.com/oauth/token"
    secret_name: str = "prod/db/password"
