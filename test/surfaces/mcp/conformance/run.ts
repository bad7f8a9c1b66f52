/**
 * Runs the official conformance suite, whole and in each version of the protocol:
 * `tsx test/surfaces/mcp/conformance/run.ts [server] [client] [gateway] [SCENARIO...]`. Exits 1 when anything
 * ends in another way than `expected.ts` says.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Given, runClient, runGateway } from './client.ts';
import { type Subject, versions } from './expected.ts';
import { startFixture } from './fixture.ts';
import { listed, runLeg } from './suite.ts';

/** Clients at once: the suite starts all at the same time. */
const atOnce = 4;

interface Target {
  readonly side: 'server' | 'client';
  start(): Promise<{ readonly options: readonly string[]; close(): Promise<void> }>;
}

const subjects: Readonly<Record<Subject, Target>> = {
  server: {
    side: 'server',
    async start() {
      const { url, close } = await startFixture();
      return { options: ['--url', url], close };
    },
  },
  client: { side: 'client', start: () => clients(runClient) },
  gateway: { side: 'client', start: () => clients(runGateway) },
};

/** Runs the client of each scenario, which `command.mjs` brings, in this process. */
async function clients(run: (given: Given) => Promise<string>) {
  const waiting: (() => void)[] = [];
  let free = atOnce;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free--;
    try {
      response.end(await run(JSON.parse(body) as Given));
    } catch (error) {
      response.writeHead(500).end(`${error instanceof Error ? error.stack : String(error)}\n`);
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const program = join(import.meta.dirname, 'command.mjs');
  const command = `${process.execPath} ${program} http://127.0.0.1:${port}`;
  return {
    options: ['--command', command, '--timeout', '120000'],
    close: async () => {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const words = process.argv.slice(2);
const isSubject = (word: string): word is Subject => Object.hasOwn(subjects, word);
const named = words.filter(isSubject);
const only = words.filter((word) => !isSubject(word));
let failed = 0;
for (const subject of named.length > 0 ? named : (Object.keys(subjects) as Subject[])) {
  const { side, start } = subjects[subject];
  const list = await listed(side);
  for (const version of versions) {
    const names = [...list].flatMap(([name, tags]) => (tags.includes(version) ? [name] : []));
    if (names.length === 0) continue;
    const { options, close } = await start();
    try {
      failed += await runLeg({ subject, side, version, target: options, names }, only);
    } finally {
      await close();
    }
  }
  const known: readonly string[] = versions;
  for (const [name, tags] of list)
    if (!tags.some((tag) => known.includes(tag))) {
      failed++;
      process.stdout.write(`FAIL ${name} is of ${tags.join(', ')}, which no table knows\n`);
    }
}
process.stdout.write(
  failed === 0 ? '\nAll ended as expected.\n' : `\n${failed} did not end as expected.\n`,
);
process.exitCode = failed === 0 ? 0 : 1;
