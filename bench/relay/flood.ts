/**
 * One token that asks as often as it can, in a process of its own: what it costs must not be the
 * measured client's.
 */
import { WebSocket } from 'ws';
import { httpConnection } from './http-connection.ts';

/** What a flood is told: the whole of each request. */
export interface Flood {
  readonly port: number;
  readonly connections: number;
  /** As `messageTo` makes it. */
  readonly message: string;
  /** Sends the message as a frame over WebSockets at this path instead. */
  readonly socket?: { readonly path: string; readonly token: string };
}

/** What was answered, by status. */
export type Answered = Readonly<Record<string, number>>;

const answered: Record<string, number> = {};
let over = false;

async function ask({ port, message }: Flood): Promise<void> {
  let connection = await httpConnection(port);
  while (!over) {
    try {
      const { status } = await connection.send(message);
      answered[status] = (answered[status] ?? 0) + 1;
    } catch {
      answered.cut = (answered.cut ?? 0) + 1;
      connection = await httpConnection(port);
    }
  }
}

/** Frames of one socket that are on their way at a time. */
const atOnce = 4;

async function addDecision({ port, message, socket }: Flood): Promise<void> {
  const { path = '', token = '' } = socket ?? {};
  while (!over)
    await new Promise<void>((resolve) => {
      const line = new WebSocket(`ws://127.0.0.1:${port}${path}`, {
        headers: { Authorization: `Bearer ${token}` },
      });
      line.on('open', () => {
        for (let count = 0; count < atOnce; count++) line.send(message);
      });
      line.on('message', (text) => {
        const { data } = JSON.parse(String(text)) as { data: { status?: number } };
        if (data.status === undefined) return;
        answered[data.status] = (answered[data.status] ?? 0) + 1;
        line.send(message);
      });
      line.on('error', () => {});
      line.once('close', () => {
        answered.cut = (answered.cut ?? 0) + 1;
        setTimeout(resolve, 100);
      });
    });
}

process.once('message', (flood) => {
  const told = flood as Flood;
  const run = told.socket === undefined ? ask : addDecision;
  for (let count = 0; count < told.connections; count++)
    run(told).catch((error: unknown) => {
      if (!over) throw error;
    });
  process.once('message', () => {
    over = true;
    process.send?.(answered, () => process.exit());
  });
});
process.once('disconnect', () => process.exit());
