"""A mail server and a web server on this machine that keep what they receive, and can be made to fail."""

import asyncio
import email
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import default


@dataclass
class Receiver:
    """Where it listens, what it got, and whether it refuses what comes."""

    port: int = 0
    failing: bool = False
    asked: int = 0
    logins: list[bytes] = field(default_factory=list)
    mails: list[EmailMessage] = field(default_factory=list)
    posts: list[tuple[dict[str, str], bytes]] = field(default_factory=list)


@asynccontextmanager
async def mail_server() -> AsyncIterator[Receiver]:
    """Speaks as much SMTP as `smtplib` asks for."""
    receiver = Receiver()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        receiver.asked += 1
        writer.write(b"220 ready\r\n")
        while line := await reader.readline():
            match line.split()[0].upper():
                case b"EHLO":
                    answer = b"250-here\r\n250 AUTH PLAIN"
                case b"AUTH":
                    receiver.logins.append(line)
                    answer = b"235 welcome"
                case b"DATA" if not receiver.failing:
                    writer.write(b"354 go on\r\n")
                    body = await reader.readuntil(b"\r\n.\r\n")
                    mail = email.message_from_bytes(body[:-3], policy=default)
                    assert isinstance(mail, EmailMessage)
                    receiver.mails.append(mail)
                    answer = b"250 kept"
                case b"DATA":
                    answer = b"451 the secret hunter2 is not taken"
                case b"QUIT":
                    writer.write(b"221 bye\r\n")
                    break
                case _:
                    answer = b"250 fine"
            writer.write(answer + b"\r\n")
        writer.close()

    async with _serving(talk, receiver):
        yield receiver


@asynccontextmanager
async def web_server() -> AsyncIterator[Receiver]:
    """Takes one POST per connection."""
    receiver = Receiver()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        receiver.asked += 1
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {
            name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:])
        }
        body = await reader.readexactly(int(headers["content-length"]))
        if not receiver.failing:
            receiver.posts.append((headers, body))
        status = b"503 Away" if receiver.failing else b"204 Kept"
        writer.write(b"HTTP/1.1 " + status + b"\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async with _serving(talk, receiver):
        yield receiver


@asynccontextmanager
async def _serving(talk, receiver: Receiver) -> AsyncIterator[None]:
    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield
    finally:
        server.close()
