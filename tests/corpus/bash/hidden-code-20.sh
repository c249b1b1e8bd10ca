gunzip -c x.gz | bash
