import asyncio, httpx
async def main():
    async with httpx.AsyncClient() as c:
        rs = await asyncio.gather(*(c.get(f"https://example.com/{i}") for i in range(3)))
    print([r.status_code for r in rs])
asyncio.run(main())
