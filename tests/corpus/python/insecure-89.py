import asyncpg


async def by_name(pool, name):
    query = f"select id, mail from people where name = '{name}'"
    async with pool.acquire() as con:
        return await con.fetch(query)
