import re, sys
for line in open(sys.argv[1], encoding="utf-8"):
    if m := re.match(r"(#+)\s+(.*)", line):
        slug = re.sub(r"[^\w-]+", "", m[2].lower().replace(" ", "-"))
        print("  " * (len(m[1]) - 1) + f"- [{m[2]}](#{slug})")
