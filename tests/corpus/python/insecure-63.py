import xml.sax
xml.sax.parse('x.xml', H())
