import xml.sax
xml.sax.make_parser().setFeature("http://xml.org/sax/features/external-general-entities", True)
