import asyncio
asyncio.run(asyncio.create_subprocess_shell('id'))
