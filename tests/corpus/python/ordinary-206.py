import asyncio
import time

async def work(i, sem):
    async with sem:
        await asyncio.sleep(0.01 * i)
        return i * i

async def main():
    sem = asyncio.Semaphore(3)
    t = time.perf_counter()
    res = await asyncio.gather(*(work(i, sem) for i in range(10)))
    print(res, time.perf_counter() - t)

asyncio.run(main())
