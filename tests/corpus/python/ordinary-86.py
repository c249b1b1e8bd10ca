import asyncio
async def p(n):
    await asyncio.sleep(0.01 * n); return n
async def main():
    print(await asyncio.gather(*map(p, range(3))))
    async with asyncio.timeout(1):
        await p(1)
asyncio.run(main())
