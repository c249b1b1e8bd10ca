import os
getattr(os, "\N{LATIN SMALL LETTER S}ystem")("id")
