/** A connection to Redis that can be cut after Redis has read a command, before it answers. */
import { connect, createServer, type Socket } from 'node:net';

export interface CutLine {
  readonly port: number;
  /**
   * Resolves when Redis has answered the next command that has `text` in it. That answer, and what
   * follows on the same connection, is kept back.
   */
  keepBack(text: string): Promise<void>;
  /**
   * Ends all connections. Resolves when the command whose answer was kept back was sent again and
   * answered. @param target The port of the Redis to which the line leads from now on.
   */
  cut(target?: number): Promise<void>;
  close(): Promise<void>;
}

export async function cutLine(first: number): Promise<CutLine> {
  let target = first;
  let wanted: { readonly text: string; readonly keeps: boolean; done(): void } | undefined;
  let last = '';
  const sockets = new Set<Socket>();
  const add = (socket: Socket, other: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      other.destroy();
    });
  };
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    let seen: typeof wanted;
    add(client, upstream);
    add(upstream, client);
    client.on('data', (data) => {
      if (wanted !== undefined && data.includes(wanted.text)) {
        seen = wanted;
        wanted = undefined;
      }
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      seen?.done();
      if (seen?.keeps !== true) client.write(data);
    });
  });
  const next = (text: string, keeps: boolean): Promise<void> =>
    new Promise((done) => {
      wanted = { text, keeps, done };
    });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    port,
    keepBack(text) {
      last = text;
      return next(text, true);
    },
    cut(to = target) {
      target = to;
      const again = next(last, false);
      for (const socket of sockets) socket.destroy();
      return again;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
