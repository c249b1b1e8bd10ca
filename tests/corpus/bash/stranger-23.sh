pwsh -enc aQBkAA==
