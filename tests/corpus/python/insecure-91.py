from flask import Flask, request
from lxml import etree

app = Flask(__name__)
PEOPLE = etree.parse("people.xml")


@app.get("/phone")
def phone():
    who = request.args["who"]
    return {"phone": PEOPLE.xpath("//p[@name='%s']/phone/text()" % who)}
