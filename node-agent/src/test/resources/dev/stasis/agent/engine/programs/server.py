"""An HTTP server of asyncio, on uvloop where asked for, with a client that reads a stream."""
import asyncio
import subprocess
import sys

ANY, HOST = ("::", "::1") if "ipv6" in sys.argv else ("0.0.0.0", "127.0.0.1")


async def serve(reader, writer):
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    number = 0
    while True:
        number += 1
        writer.write(b"token %d\n" % number)
        await writer.drain()
        await asyncio.sleep(0.02)


async def read():
    while True:
        try:
            reader, writer = await asyncio.open_connection(HOST, 8080)
            break
        except OSError:  # the loopback comes up later
            await asyncio.sleep(0.05)
    writer.write(b"GET / HTTP/1.1\r\n\r\n")
    await reader.readuntil(b"\r\n\r\n")
    last = 0
    while True:
        line = await reader.readline()
        if line != b"token %d\n" % (last + 1):
            print("BAD token after", last, line, flush=True)
            return
        last += 1
        await asyncio.get_running_loop().run_in_executor(None, write, last)


def write(number):
    with open("/data/progress", "a") as progress:
        progress.write(f"{number}\n")


async def main():
    subprocess.Popen(["/bin/gpu-counter", "--mib", "8", "--interval-ms", "100"])
    server = await asyncio.start_server(serve, ANY, 8080)
    async with server:
        await read()


if "uvloop" in sys.argv:
    import uvloop

    uvloop.run(main())
else:
    asyncio.run(main())
