from fastapi import FastAPI, Depends, HTTPException
from fastapi.security import OAuth2PasswordBearer
oauth2_scheme = OAuth2PasswordBearer(tokenUrl="token")
app = FastAPI()
@app.get("/me")
async def me(token: str = Depends(oauth2_scheme)):
    if not token: raise HTTPException(401)
    return {"token_type": "bearer"}
