import aiohttp
async def f():
    async with aiohttp.ClientSession() as s:
        await s.get("https://example.com", ssl=False)
