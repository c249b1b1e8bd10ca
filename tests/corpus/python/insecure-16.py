import xml.sax, xml.sax.handler
p = xml.sax.make_parser()
p.setFeature(xml.sax.handler.feature_external_ges, True)
