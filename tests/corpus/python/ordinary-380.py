from pathlib import Path
from fastapi import FastAPI, HTTPException

app = FastAPI()
REPORTS = {"daily", "weekly"}


@app.get("/report/{title}")
def report(title: str):
    if title not in REPORTS:
        raise HTTPException(404)
    return {"report": (Path("reports") / title).read_text()}
