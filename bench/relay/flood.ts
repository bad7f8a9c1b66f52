/**
 * One token that asks as often as it can, in a process of its own: what it costs must not be the
 * measured client's.
 */
import { httpConnection } from './http-connection.ts';

/** What a flood is told: the whole of each request. */
export interface Flood {
  readonly port: number;
  readonly connections: number;
  /** As `messageTo` makes it. */
  readonly message: string;
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

process.once('message', (flood) => {
  const told = flood as Flood;
  for (let count = 0; count < told.connections; count++)
    ask(told).catch((error: unknown) => {
      if (!over) throw error;
    });
  process.once('message', () => {
    over = true;
    process.send?.(answered, () => process.exit());
  });
});
process.once('disconnect', () => process.exit());
