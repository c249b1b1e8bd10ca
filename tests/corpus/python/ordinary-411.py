import asyncio
async def worker(name, q):
    while True:
        n = await q.get()
        await asyncio.sleep(n)
        q.task_done()
async def main():
    q = asyncio.Queue()
    for i in range(20): q.put_nowait(i / 100)
    ts = [asyncio.create_task(worker(f"w{i}", q)) for i in range(3)]
    await q.join()
    for t in ts: t.cancel()
    await asyncio.gather(*ts, return_exceptions=True)
asyncio.run(main())
