/**
 * A host with work on its pages, for looking at them: thirty calls of three sessions with every kind
 * of outcome, and seven approvals that wait: one is a file of eighty lines, two are of one program.
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { z } from 'zod';
import { defineTool, HostToolRegistry } from '../../src/index.ts';
import { createApprovalsHandler } from '../../src/surfaces/approvals/index.ts';
import { createAuditLog } from '../../src/surfaces/audit/index.ts';
import { createInspector } from '../../src/surfaces/inspector/index.ts';
import { toNodeListener } from '../../src/surfaces/mcp/index.ts';

export interface BusyHost {
  /** Addresses of pages, by name. */
  readonly pages: Readonly<Record<'inbox' | 'inspector' | 'report', string>>;
  close(): Promise<void>;
}

const tools = [
  defineTool({
    name: 'search_orders',
    description: 'Finds orders of a customer.',
    parameters: z.object({ customer: z.string(), status: z.enum(['open', 'paid', 'sent']) }),
    annotations: { readOnly: true },
    handler: ({ customer }) => ({ customer, orders: ['A-17', 'A-18'] }),
  }),
  defineTool({
    name: 'refund',
    description: 'Pays an order back.',
    parameters: z.object({
      order: z.string().describe('The number of the order.'),
      amount: z.number().positive().describe('In euros.'),
      reason: z.enum(['damaged', 'late', 'other']).optional(),
      notify: z.boolean().optional().describe('Whether the customer gets a mail.'),
    }),
    annotations: { destructive: true },
    handler: ({ order, amount }) => `paid ${amount} for ${order}`,
  }),
  defineTool({
    name: 'send_mail',
    description: 'Sends a mail.',
    parameters: z.object({ to: z.array(z.string()), subject: z.string(), body: z.string() }),
    handler: ({ to }) => ({ sent: to.length }),
  }),
  defineTool({
    name: 'write_file',
    description: 'Writes a file of the project.',
    parameters: z.object({ path: z.string(), content: z.string() }),
    handler: ({ path }) => ({ written: path }),
  }),
  defineTool({
    name: 'run_report',
    description: 'Computes a report.',
    parameters: z.object({ month: z.string(), password: z.string().optional() }),
    timeoutMs: 40,
    handler: ({ month }, { signal }) =>
      month === '2026-02'
        ? new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        : { month, total: 12_480 },
  }),
  defineTool({
    name: 'get_weather',
    description: 'The weather of a place.',
    parameters: z.object({ place: z.string() }),
    annotations: { readOnly: true },
    handler: ({ place }) => {
      if (place === 'Atlantis') throw new Error('no such place');
      return { place, degrees: 21 };
    },
  }),
] as const;

/** Eighty lines of a source, some of which are longer than a page is wide. */
const file = Array.from({ length: 80 }, (_, at) =>
  at % 9 === 0
    ? `/** Step ${at / 9 + 1}: what follows depends on the order, the customer and the currency, and it is written down for the audit. */`
    : `export const step${at} = (order: Order): Result => check(order, ${at});`,
).join('\n');

const mail = `Dear Eve,

your order A-18 arrived damaged, and we are sorry. We pay back 1 800 EUR today.
The money is on your account in two days. If it is not, please answer to this mail.

Kind regards
Ann, for the team of Blue Door`;

const program = `// Pay back what arrived damaged.
const { orders } = await tools.search_orders({ customer: 'eve', status: 'sent' });
console.log(orders.length, 'orders of eve');
const paid = await Promise.all([
  tools.refund({ order: orders[0], amount: 1200, reason: 'damaged' }),
  tools.refund({ order: orders[1], amount: 1350, reason: 'damaged' }),
  tools.get_weather({ place: 'Atlantis' }).catch(({ message }) => message),
]);
await tools.send_mail({ to: ['eve@customer.example'], subject: 'Your orders', body: paid.join() });
return paid.length;`;

/** Starts the host on loopback. Two of its sessions are open, one was closed. */
export async function startBusyHost(): Promise<BusyHost> {
  const registry = new HostToolRegistry({
    redact: ['password'],
    rules: [
      { id: 'no-env', effect: 'deny', tools: 'write_file', when: { path: { glob: '*.env' } } },
      { id: 'large-refunds', effect: 'ask', tools: 'refund', when: { amount: { gt: 1000 } } },
      { id: 'mails', effect: 'ask', tools: 'send_mail' },
      { id: 'sources', effect: 'ask', tools: 'write_file', when: { path: { glob: 'src/**' } } },
      { id: 'no-weather', effect: 'deny', tools: 'get_weather', shadow: true },
    ],
    quotas: [
      { id: 'refunds', tools: 'refund', sum: 'amount', max: 5000, per: 'day', by: 'principal' },
    ],
    approvals: { secret: 'a secret of at least 32 bytes, for the pictures' },
  });
  registry.registerAll(tools);
  registry.defineProfile({ id: 'support', tools: ['search_orders', 'refund', 'send_mail'] });
  const folder = mkdtempSync(join(tmpdir(), 'host-tools-shots-'));
  const log = join(folder, 'audit.jsonl');
  const audit = createAuditLog({ path: log });
  audit.attach(registry);
  const inspector = createInspector(registry, { allowCalls: true });
  const ann = registry.createSession({
    sessionId: 'chat-1',
    principal: 'ann',
    approvalMode: 'suspend',
  });
  const bob = registry.createSession({
    sessionId: 'chat-2',
    principal: 'bob@blue-door.example',
    approvalMode: 'suspend',
    profile: 'support',
  });
  const job = registry.createSession({ sessionId: 'nightly-report' });
  const writing = registry.createSession({
    sessionId: 'chat-3',
    principal: 'dora',
    approvalMode: 'suspend',
    code: {},
  });
  await writing.call('run_code', { code: program });
  for (const status of ['open', 'paid', 'sent', 'lost'])
    for (const customer of ['eve', 'mallory'])
      await ann.call('search_orders', { customer, status });
  for (const [order, amount] of [
    ['A-17', 40],
    ['A-19', 120],
    ['A-20', -5],
    ['A-21', 900],
  ] as const)
    await bob.call('refund', { order, amount });
  for (const month of ['2026-01', '2026-02', '2026-03'])
    await job.call('run_report', { month, password: 'hunter2' });
  for (const place of ['Paris', 'Atlantis', 'Rome']) await ann.call('get_weather', { place });
  await ann.call('write_file', { path: 'prod.env', content: 'KEY=1' });
  await ann.call('write_file', { path: 'notes.md', content: '# Notes\n' });
  await bob.call('write_file', { path: 'notes.md', content: 'x' });
  await bob.call('no_such_tool', {});
  for (const place of ['Oslo', 'Bern', 'Riga']) await job.call('get_weather', { place });
  await job.close();
  // What waits.
  await bob.call('refund', { order: 'A-18', amount: 1800, reason: 'damaged' });
  await ann.call('write_file', { path: 'src/orders/checks.ts', content: file });
  await ann.call('send_mail', {
    to: ['eve@customer.example', 'team@blue-door.example'],
    subject: 'Your order A-18',
    body: mail,
  });
  // A model made these two at once.
  await bob.executeBatch([
    {
      id: 'call-1',
      name: 'send_mail',
      arguments: { to: ['mallory@customer.example'], subject: 'Hi', body: 'Hi.' },
    },
    { id: 'call-2', name: 'refund', arguments: { order: 'A-22', amount: 2400, notify: true } },
  ]);
  await audit.close();
  const report = join(folder, 'report.html');
  const cli = fileURLToPath(new URL('../../src/cli/index.ts', import.meta.url));
  const made = [cli, 'audit', 'report', log, '--html', report];
  const { status, stderr } = spawnSync('npx', ['tsx', ...made], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`audit report failed: ${stderr}`);
  const inbox = createApprovalsHandler(registry, { authenticate: () => 'carol' });
  const servers: Server[] = [];
  const serve = async (handler: { fetch(request: Request): Promise<Response> }) => {
    const server = createServer(toNodeListener(handler)).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  };
  return {
    pages: {
      inbox: await serve(inbox),
      report: pathToFileURL(report).href,
      inspector: `${await serve(inspector)}#token=${inspector.token}`,
    },
    async close() {
      await inspector.close();
      rmSync(folder, { recursive: true });
      for (const server of servers) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}
