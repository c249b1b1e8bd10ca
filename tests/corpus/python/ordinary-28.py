import asyncio
async def work(n):
    await asyncio.sleep(0)
    return n
async def main():
    print(await asyncio.gather(*(work(i) for i in range(3))))
asyncio.run(main())
