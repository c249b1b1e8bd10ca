import xml.etree.ElementTree as ET
from flask import Flask, request

app = Flask(__name__)


@app.post("/order")
def order():
    root = ET.fromstring(request.data)
    return {"items": len(root.findall("item"))}
