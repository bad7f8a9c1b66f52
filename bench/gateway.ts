/**
 * A gateway as a user starts it, in front of the official servers: what a call through it costs,
 * and how long it takes until its client sees every tool.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { type Case, compare, quick } from './harness.ts';
import type { FamilyResult, Row } from './targets.ts';

/** Where the built command is: this file is bundled beside it. */
const command = fileURLToPath(new URL('./cli.js', import.meta.url));
const starts = quick ? 3 : 9;

type Servers = Readonly<Record<string, readonly string[]>>;

export async function measure(): Promise<FamilyResult> {
  const folder = await mkdtemp(join(tmpdir(), 'host-tools-bench-'));
  try {
    await writeFile(join(folder, 'note.txt'), 'A line of a note.\n'.repeat(40));
    const servers = serversIn(folder);
    if (servers === undefined)
      return { rows: [], skipped: 'the official MCP servers: not installed (`npm ci`)' };
    const mcpServers = Object.fromEntries(
      Object.entries(servers).map(([name, args]) => [name, { command: process.execPath, args }]),
    );
    const rules = [{ effect: 'deny', tools: 'files.move_file' }];
    await writeFile(join(folder, 'gateway.json'), JSON.stringify({ mcpServers, rules }));
    return { rows: [...(await callRows(servers, folder)), await startRow(servers, folder)] };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function serversIn(folder: string): Servers | undefined {
  const { resolve } = createRequire(import.meta.url);
  const entry = (name: string): string =>
    join(dirname(resolve(`@modelcontextprotocol/server-${name}/package.json`)), 'dist/index.js');
  try {
    return {
      every: [entry('everything')],
      files: [entry('filesystem'), folder],
      memory: [entry('memory')],
      think: [entry('sequential-thinking')],
    };
  } catch {
    return undefined;
  }
}

const gatewayArgs = [command, 'serve', 'gateway.json'];

async function connect(args: readonly string[], cwd: string): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1.0.0' });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [...args], cwd, stderr: 'ignore' }),
  );
  return client;
}

/** The least that a second process can cost: it reads what arrives, and writes it. */
const copier = `
import { spawn } from 'node:child_process';
const [, , program, ...args] = process.argv;
const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] });
process.stdin.on('data', (bytes) => child.stdin.write(bytes));
process.stdin.on('end', () => child.stdin.end());
child.stdout.on('data', (bytes) => process.stdout.write(bytes));
`;

/** A gateway runs long, so what the compiler learns in its first calls is not measured. */
const warmUps = quick ? 300 : 4_000;

/** Calls one after another, with the protocol package's own client on both sides. */
async function callRows(servers: Servers, folder: string): Promise<readonly Row[]> {
  const gateway = await connect(gatewayArgs, folder);
  for (let seen = 0; seen < Object.keys(servers).length; ) {
    const { tools } = await gateway.listTools();
    seen = new Set(tools.map(({ name }) => name.split('_')[0])).size;
  }
  const copies = join(folder, 'copies.mjs');
  await writeFile(copies, copier);
  const measured = async (server: string, name: string, input: Record<string, unknown>) => {
    const args = servers[server] as readonly string[];
    const direct = await connect(args, folder);
    const copied = await connect([copies, process.execPath, ...args], folder);
    const caseOf = (client: Client, tool: string): Case => ({
      name: tool,
      async run(times) {
        for (let at = 0; at < times; at++) {
          const { isError } = await client.callTool({ name: tool, arguments: input });
          if (isError === true) throw new Error(`\`${tool}\` failed.`);
        }
      },
    });
    const cases = [
      caseOf(direct, name),
      caseOf(copied, name),
      caseOf(gateway, `${server}_${name}`),
    ];
    const slow = name.startsWith('trigger');
    for (const { run } of slow ? [] : cases) await run(warmUps);
    const [alone, floor, through] = await compare(cases, { sampleMs: quick ? 30 : 100 });
    await direct.close();
    await copied.close();
    const ms = (ns: number | undefined): string => ((ns ?? Number.NaN) / 1e6).toFixed(2);
    return {
      through: {
        value: through?.ratio ?? Number.NaN,
        note:
          `${ms(alone?.ns)} → ${ms(through?.ns)} ms; the quickest round ${ms(alone?.best)} → ` +
          `${ms(through?.best)} ms`,
      },
      floor: {
        unit: '×',
        value: floor?.ratio ?? Number.NaN,
        note: `${ms(floor?.ns)} ms; the quickest round ${ms(floor?.best)} ms`,
      },
    };
  };
  const path = join(folder, 'note.txt');
  const read = await measured('files', 'read_text_file', { path });
  const works = await measured('every', 'trigger-long-running-operation', {
    duration: 0.01,
    steps: 1,
  });
  const echo = await measured('every', 'echo', { message: 'hello' });
  await gateway.close();
  return [
    { id: 'gateway_call', ...read.through },
    { what: 'such a call through a process that only copies', ...read.floor },
    { what: 'a gateway and a tool that works for 10 ms', unit: '×', ...works.through },
    { what: 'a gateway and a tool that answers at once', unit: '×', ...echo.through },
    { what: 'that tool through a process that only copies', ...echo.floor },
  ];
}

/** From the start of a gateway until its client has seen the tools of every server. */
async function startRow(servers: Servers, folder: string): Promise<Row> {
  const all = Object.values(servers);
  const least = { together: Infinity, gateway: Infinity, alone: all.map(() => Infinity) };
  for (let round = 0; round < starts; round++) {
    // None of the figures has the time that servers take to end.
    const took = await Promise.all(all.map((args) => untilListed(args, folder, 1)));
    least.together = Math.min(least.together, Math.max(...took));
    least.gateway = Math.min(least.gateway, await untilListed(gatewayArgs, folder, all.length));
    for (const [at, args] of all.entries())
      least.alone[at] = Math.min(least.alone[at] as number, await untilListed(args, folder, 1));
  }
  const ms = (time: number): string => time.toFixed(0);
  return {
    id: 'gateway_start',
    value: least.gateway / least.together,
    note:
      `${ms(least.together)} → ${ms(least.gateway)} ms, the quickest of ${starts}; the slowest ` +
      `server alone ${ms(Math.max(...least.alone))} ms`,
  };
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: { readonly tools?: readonly { readonly name: string }[] };
}

const hello = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1.0.0' },
};

/**
 * Milliseconds from the start of a program until it has listed the tools of so many servers. The
 * client is written by hand, so that it takes no time of its own.
 */
async function untilListed(args: readonly string[], cwd: string, count: number): Promise<number> {
  const begun = performance.now();
  const child: ChildProcess = spawn(process.execPath, args, {
    cwd,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  let ids = 0;
  const send = (message: object): void =>
    void child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = (method: string, params: object = {}): void => send({ id: ++ids, method, params });
  ask('initialize', hello);
  let took = Number.NaN;
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    const { id, method, result } = JSON.parse(line) as Message;
    if (id === 1) {
      send({ method: 'notifications/initialized' });
      ask('tools/list');
    } else if (method === 'notifications/tools/list_changed') ask('tools/list');
    else if (result?.tools !== undefined) {
      const seen = new Set(result.tools.map(({ name }) => (count === 1 ? '' : name.split('_')[0])));
      if (seen.size === count) {
        took = performance.now() - begun;
        break;
      }
    }
  }
  child.stdin?.end();
  await exited;
  if (Number.isNaN(took)) throw new Error(`\`${args.join(' ')}\` ended before it was ready.`);
  return took;
}
