/** A connection that reads a stream of server-sent events. */
import { connect, messageTo, readChunks } from './http-connection.ts';

/** Gets the fields of an event; `data` is JSON text. */
export type OnEvent = (event: string, data: string) => void;

/** Resolves when the answer's head has come. */
export async function sseConnection(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
  onEvent: OnEvent,
): Promise<{ close(): void }> {
  const socket = await connect(port);
  let head = '';
  let chunks = '';
  let text = '';
  await new Promise<void>((resolve, reject) => {
    let isOpen = false;
    socket
      .on('error', reject)
      .on('close', () => reject(new Error('The server closed the stream.')));
    socket.on('data', (chunk: unknown) => {
      if (isOpen) chunks += chunk as string;
      else {
        head += chunk as string;
        const end = head.indexOf('\r\n\r\n');
        if (end === -1) return;
        if (head.slice(9, 12) !== '200') return reject(new Error(`Expected a stream, got ${head}`));
        chunks = head.slice(end + 4);
        isOpen = true;
        resolve();
      }
      const { body, rest } = readChunks(chunks);
      chunks = rest;
      text = readEvents(text + body, onEvent);
    });
    socket.write(messageTo('GET', path, { Accept: 'text/event-stream', ...headers })(), 'latin1');
  });
  return { close: () => void socket.destroy() };
}

/** @returns what is left of an event that is not all there */
function readEvents(text: string, onEvent: OnEvent): string {
  for (let at = 0; ; ) {
    const end = text.indexOf('\n\n', at);
    if (end === -1) return text.slice(at);
    let event = 'message';
    let data = '';
    for (const line of text.slice(at, end).split('\n')) {
      if (line.startsWith('event: ')) event = line.slice(7);
      else if (line.startsWith('data: ')) data += line.slice(6);
    }
    onEvent(event, data);
    at = end + 2;
  }
}
