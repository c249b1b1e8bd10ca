cat script.txt | bash
