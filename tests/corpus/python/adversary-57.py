import os
async def g():
    yield os.system
async def m():
    async for f in g():
        f("id")
