run = eval
for line in open("jobs.txt"):
    run(line)
