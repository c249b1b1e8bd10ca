from xml.dom import minidom, pulldom
pulldom.parseString(s)
minidom.parseString(s)
