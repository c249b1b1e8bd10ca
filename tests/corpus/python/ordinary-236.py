from fastapi import FastAPI, Depends, HTTPException
from fastapi.security import OAuth2PasswordBearer
from pydantic import BaseModel
app = FastAPI()
oauth2_scheme = OAuth2PasswordBearer(tokenUrl="token")
class User(BaseModel):
    username: str
    password: str
@app.post("/token")
def login(u: User):
    if not u.password:
        raise HTTPException(400, "Incorrect username or password")
    return {"access_token": u.username, "token_type": "bearer"}
@app.get("/me")
def me(token: str = Depends(oauth2_scheme)):
    return {"token": token}
