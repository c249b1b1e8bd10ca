from dataclasses import dataclass, field
@dataclass
class Config:
    host: str = 'localhost'
    password: str = ''
    secret_key: str = field(default='', repr=False)
    token: str | None = None
