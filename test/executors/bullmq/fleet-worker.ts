/**
 * A worker process of a fleet. It reads commands as lines of its standard input, and answers each
 * with a line: `{ queue, module, export, … }` serves a queue, and `{ close: queue }` stops that.
 */
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { type FleetService, serveFleet } from '../../../src/executors/bullmq/index.ts';
import { defineTool, type ToolAnnotations } from '../../../src/index.ts';

/** The command to serve a queue. */
export interface ServeOrder {
  readonly port: number;
  readonly queue: string;
  readonly module: string;
  readonly export: string;
  /** They all have the same handler. */
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly annotations?: ToolAnnotations;
    readonly uses?: readonly string[];
    readonly events?: readonly string[];
  }[];
  readonly concurrency?: number;
  /** How far the clock of the process is ahead of ours, in milliseconds. */
  readonly skewMs?: number;
  /** The handlers' ledger, and the name of this process in it. */
  readonly ledger?: string;
  readonly instance?: string;
}

type Order = ServeOrder | { readonly close: string };

const services = new Map<string, FleetService>();

async function obey(order: Order): Promise<void> {
  if ('close' in order) return services.get(order.close)?.close();
  const members = (await import(order.module)) as Record<string, never>;
  const { ledger = '', instance = '', skewMs } = order;
  if (skewMs !== undefined) {
    const { now } = Date;
    Date.now = () => now() + skewMs;
  }
  const note = (event: object): void =>
    appendFileSync(ledger, `${JSON.stringify({ ...event, instance })}\n`);
  const handler = members[order.export] as never;
  const tools = order.tools.map((tool) =>
    defineTool({ parameters: { type: 'object' }, ...tool, handler }),
  );
  const service = await serveFleet({
    connection: { port: order.port, host: '127.0.0.1' },
    queue: order.queue,
    tools,
    services: { note },
    concurrency: order.concurrency ?? 16,
  });
  services.set(order.queue, service);
}

process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  await obey(JSON.parse(line) as Order);
  process.stdout.write('done\n');
}
