import string
string.Formatter().get_field("0.__class__.__init__.__globals__", [x], {})
