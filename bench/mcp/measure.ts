/**
 * Calls over HTTP: our MCP server against the protocol package's own, 16 at once, servers in
 * processes of their own.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { input } from '../fixtures.ts';
import { type Case, compare, quick } from '../harness.ts';
import { load, missing } from '../peers/load.ts';
import { versionOf } from '../peers/version.ts';
import { benchFolder } from '../place.ts';
import { httpConnection, messageTo } from '../relay/http-connection.ts';
import { eachOf } from '../relay/latency.ts';
import type { FamilyResult, Row } from '../targets.ts';

const atOnce = 16;
const rounds = quick ? 7 : 21;
const sampleMs = quick ? 60 : 250;
/** Until the engine has compiled what runs often. */
const warmUp = quick ? 500 : 5_000;
/** For the servers' own time, which other work on the machine changes less than the rate. */
const turns = quick ? 2 : 6;
const perTurn = quick ? 200 : 1_000;
/** Where the built files are: this one is bundled into one of them. */
const serveFile = fileURLToPath(new URL('./mcp-serve.js', import.meta.url));

type Kind = 'theirs' | 'ours';
type Era = '2026' | '2025';

interface Server {
  readonly port: number;
  /** Microseconds of its processor since it started. */
  cpuUs(): Promise<number>;
  close(): Promise<void>;
}

/** `BENCH_PROFILE=folder` has it write a CPU profile there. */
async function start(kind: Kind): Promise<Server> {
  const { BENCH_PROFILE: folder } = process.env;
  const profiling =
    folder === undefined
      ? []
      : [
          '--cpu-prof',
          `--cpu-prof-dir=${folder}`,
          `--cpu-prof-name=mcp-${kind}-${Date.now()}.cpuprofile`,
        ];
  const child = fork(serveFile, [kind, fileURLToPath(benchFolder)], {
    execArgv: profiling,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const next = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const onExit = (code: number | null): void =>
        reject(new Error(`A server ended with code ${code}.`));
      child.once('exit', onExit).once('message', (message) => {
        child.off('exit', onExit);
        resolve(message as number);
      });
    });
  return {
    port: await next(),
    cpuUs: () => {
      const told = next();
      child.send('cpu');
      return told;
    },
    close: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.send('close');
      }),
  };
}

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const accept = { Accept: 'application/json, text/event-stream' };

/** Makes the bytes of a call. */
async function callOf(era: Era, port: number): Promise<(id: number) => string> {
  const params = { name: 'forecast', arguments: input };
  if (era === '2026') {
    const message = messageTo('POST', '/mcp', {
      ...accept,
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': 'forecast',
    });
    return (id) =>
      message(
        JSON.stringify({
          jsonrpc: '2.0',
          id,
          method: 'tools/call',
          params: { ...params, _meta: meta },
        }),
      );
  }
  const connection = await httpConnection(port);
  const hello = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1.0.0' },
  };
  const { head } = await connection.send(
    messageTo(
      'POST',
      '/mcp',
      accept,
    )(JSON.stringify({ jsonrpc: '2.0', id: 'init', method: 'initialize', params: hello })),
  );
  const session = {
    ...accept,
    'MCP-Protocol-Version': '2025-11-25',
    'Mcp-Session-Id': /\nmcp-session-id: (\S+)/i.exec(head)?.[1] ?? '',
  };
  const message = messageTo('POST', '/mcp', session);
  await connection.send(
    message(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })),
  );
  connection.close();
  return (id) => message(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }));
}

async function caseOf(kind: Kind, era: Era, port: number): Promise<Case & { close(): void }> {
  const call = await callOf(era, port);
  const connections = await Promise.all(Array.from({ length: atOnce }, () => httpConnection(port)));
  let ids = 0;
  const one = async (_: number, place: number): Promise<void> => {
    const { status, body } = await (connections[place] as (typeof connections)[number]).send(
      call(++ids),
    );
    if (status !== 200 || !body.includes('degrees'))
      throw new Error(`${kind} answered ${status}: ${body.slice(0, 200)}`);
  };
  const run = async (times: number): Promise<void> => void (await eachOf(times, atOnce, one));
  await run(warmUp);
  return {
    name: kind,
    run,
    close: () => {
      for (const connection of connections) connection.close();
    },
  };
}

async function rowOf(
  era: Era,
  servers: readonly (readonly [Kind, Server])[],
  version: string,
): Promise<Row> {
  const cases = await Promise.all(servers.map(([kind, { port }]) => caseOf(kind, era, port)));
  const [their, our] = await compare(cases, { rounds, sampleMs });
  const cpu = [0, 0];
  for (let turn = 0; turn < turns; turn++) {
    for (const [index, [, server]] of servers.entries()) {
      const before = await server.cpuUs();
      await cases[index]?.run(perTurn);
      cpu[index] = (cpu[index] ?? 0) + (await server.cpuUs()) - before;
    }
  }
  const [theirCpu, ourCpu] = cpu.map((us) => Math.round(us / (turns * perTurn)));
  for (const one of cases) one.close();
  const rate = (ns: number | undefined): string => Math.round(1e9 / (ns ?? Number.NaN)).toString();
  const note =
    `${version}: ${rate(their?.ns)} → ${rate(our?.ns)} a second; ${theirCpu} → ${ourCpu} µs of ` +
    `the server's processor each`;
  const value = 1 / (our?.ratio ?? Number.NaN);
  return era === '2026'
    ? { id: 'mcp_http', value, note }
    : {
        what: 'the same with MCP sessions of the 2025 era, whose streams can be resumed',
        value,
        unit: '×',
        note,
      };
}

export async function measure(): Promise<FamilyResult> {
  if ((await load('@modelcontextprotocol/server')) === undefined)
    return missing('@modelcontextprotocol/server');
  const version = await versionOf('@modelcontextprotocol/server');
  const servers = [
    ['theirs', await start('theirs')] as const,
    ['ours', await start('ours')] as const,
  ];
  const rows = [await rowOf('2026', servers, version), await rowOf('2025', servers, version)];
  for (const [, server] of servers) await server.close();
  return { rows };
}
