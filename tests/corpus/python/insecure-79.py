from pathlib import Path
from fastapi import FastAPI

app = FastAPI()


@app.get("/report/{title}")
def report(title: str):
    return {"report": (Path("reports") / title).read_text()}
