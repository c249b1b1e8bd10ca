TABLE = "people"
COLUMNS = ["id", "mail"]


async def by_names(con, names):
    marks = ", ".join("?" for _ in names)
    query = f"select {', '.join(COLUMNS)} from {TABLE} where name in ({marks})"
    return await con.fetch_all(query, names)


print(f"Select a file from {TABLE} to go on, or delete it")
