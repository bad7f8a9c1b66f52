/**
 * One kept-alive connection of HTTP/1.1, with as little around it as possible: what the client
 * costs would hide what a server does.
 */
import { createConnection, type Socket } from 'node:net';

/** What came back. */
export interface Reply {
  readonly status: number;
  /** The head as it came. */
  readonly head: string;
  readonly body: string;
}

/** One request after another. */
export interface HttpConnection {
  /** @param message as {@link messageTo} makes it */
  send(message: string): Promise<Reply>;
  close(): void;
}

/** Makes the bytes of requests to one place. Bodies are ASCII. */
export function messageTo(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): (body?: string) => string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines.join('')}`;
  return (body) =>
    body === undefined
      ? `${head}\r\n`
      : `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** Connects; resolves when connected. */
export async function connect(port: number): Promise<Socket> {
  const socket = createConnection({ port, host: '127.0.0.1', noDelay: true });
  socket.setEncoding('latin1');
  await new Promise<void>((resolve, reject) =>
    socket.once('connect', resolve).once('error', reject),
  );
  return socket;
}

export async function httpConnection(port: number): Promise<HttpConnection> {
  const socket = await connect(port);
  let text = '';
  let settle: { resolve(reply: Reply): void; reject(error: Error): void } | undefined;
  let over: Error | undefined;
  const fail = (error: Error): void => {
    over ??= error;
    settle?.reject(error);
    settle = undefined;
  };
  socket.on('error', fail).on('close', () => fail(new Error('The server closed the connection.')));
  socket.on('data', (chunk: unknown) => {
    text = text === '' ? (chunk as string) : text + (chunk as string);
    const reply = readReply(text);
    if (reply === undefined) return;
    text = '';
    const { resolve } = settle ?? {};
    settle = undefined;
    resolve?.(reply);
  });
  return {
    send: (message) =>
      new Promise((resolve, reject) => {
        if (over !== undefined) return reject(over);
        settle = { resolve, reject };
        socket.write(message, 'latin1');
      }),
    close: () => void socket.destroy(),
  };
}

/** Undefined while it is not all there. Nothing follows: the next request is sent after it. */
function readReply(text: string): Reply | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const head = text.slice(0, end);
  const status = Number(head.slice(9, 12));
  const length = /\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (length !== undefined)
    return text.length - end - 4 >= Number(length)
      ? { status, head, body: text.slice(end + 4) }
      : undefined;
  if (!/\ntransfer-encoding: chunked/i.test(head)) return { status, head, body: '' };
  if (!text.endsWith('0\r\n\r\n')) return undefined;
  const { body } = readChunks(text.slice(end + 4));
  return { status, head, body };
}

/** What chunks hold, and what is left of one that is not all there. */
export function readChunks(text: string): { readonly body: string; readonly rest: string } {
  let body = '';
  for (let at = 0; ; ) {
    const line = text.indexOf('\r\n', at);
    if (line === -1) return { body, rest: text.slice(at) };
    const size = Number.parseInt(text.slice(at, line), 16);
    const next = line + 2 + size + 2;
    if (next > text.length) return { body, rest: text.slice(at) };
    body += text.slice(line + 2, line + 2 + size);
    at = next;
  }
}
