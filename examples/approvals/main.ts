/**
 * The whole way of a call that a person has to approve: an agent over MCP makes it, the host ends
 * and is started again, a person allows it on the page, and the agent fetches what came of it.
 *
 * `npx tsx examples/approvals/main.ts` plays the person as well. With `--by-hand`, you are the
 * person: it prints the address of the page, and a password.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** How the story is told, and who the person is. */
export interface Story {
  readonly say: (line: string) => void;
  /** Signs in at the desk and answers what waits. */
  readonly person: (origin: string, password: string) => Promise<void>;
}

const agentToken = randomBytes(32).toString('base64url');
const root = fileURLToPath(new URL('../..', import.meta.url));

/** Plays it. Every host is a process of its own. */
export async function play({ say, person }: Story): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'host-tools-approvals-'));
  const password = randomBytes(12).toString('base64url');
  const env = {
    ...process.env,
    APPROVAL_SECRET: randomBytes(32).toString('hex'),
    AGENT_TOKEN: agentToken,
    DESK_PASSWORD: password,
  };
  const hosts: Host[] = [];
  const start = async (): Promise<Host> => {
    const host = await startProcess(folder, env);
    hosts.push(host);
    return host;
  };
  try {
    const first = await start();
    const asked = await callTool(first.origin, 'refund', { order: 'A-8812', cents: 12_000 });
    say(`agent: refund → ${asked.code}`);
    const id = /\(approval ([\w-]+)\)/.exec(asked.text)?.[1] ?? '';
    const early = await callTool(first.origin, 'approval_outcome', { id });
    say(`agent: approval_outcome → ${early.text}`);
    await first.end();
    say('host: the process has ended');

    const second = await start();
    if (second.pid === first.pid) throw new Error('Expected another process.');
    say('host: another process has started');
    await person(second.origin, password);

    // Until somebody has answered, and the call has ended.
    let outcome = await callTool(second.origin, 'approval_outcome', { id });
    while (/^\{"status":"(?:pending"|settled"(?!.*"(?:output|error)":))/.test(outcome.text)) {
      await sleep(1_000);
      outcome = await callTool(second.origin, 'approval_outcome', { id });
    }
    say(`agent: approval_outcome → ${outcome.text}`);
    const ledger = await readFile(join(folder, 'ledger.txt'), 'utf8').catch(() => '');
    say(`ledger: ${ledger.trim().split('\n').join(', ')}`);
  } finally {
    for (const host of hosts) await host.end();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The person of the script: it uses what the page uses. */
export function scriptedPerson(say: Story['say']): Story['person'] {
  return async (origin, password) => {
    const signedIn = await fetch(`${origin}/sign-in`, {
      method: 'POST',
      body: new URLSearchParams({ password }),
      redirect: 'manual',
    });
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    const address = `${origin}/approvals/api/approvals`;
    const listed = await fetch(address, { headers: { cookie } });
    const { by, approvals } = (await listed.json()) as {
      by: string;
      approvals: { id: string; title: string; principal: string }[];
    };
    for (const { id, title, principal } of approvals) {
      say(`page: ${principal} asks: ${title}`);
      const answered = await fetch(`${address}/${id}`, {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/json' },
        body: JSON.stringify({ decision: 'allow_once' }),
      });
      const { status } = (await answered.json()) as { status: string };
      say(`${by}: allow once → ${status}`);
    }
  };
}

/** What the agent does for each turn: it connects, calls, and reads the answer. */
async function callTool(
  origin: string,
  name: string,
  input: Record<string, unknown>,
): Promise<{ readonly text: string; readonly code: string | undefined }> {
  const client = new Client({ name: 'agent', version: '1.0.0' });
  const headers = { authorization: `Bearer ${agentToken}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { requestInit: { headers } }),
  );
  try {
    const { content, _meta } = await client.callTool({ name, arguments: input });
    const error = _meta?.['host-tools/error'] as { code: string } | undefined;
    const parts = content as { text?: string }[];
    return { text: parts.map(({ text = '' }) => text).join('\n'), code: error?.code };
  } finally {
    await client.close();
  }
}

interface Host {
  readonly origin: string;
  readonly pid: string;
  end(): Promise<void>;
}

async function startProcess(folder: string, env: NodeJS.ProcessEnv): Promise<Host> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'examples/approvals/host.ts', folder], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const ready = once(createInterface({ input: child.stdout }), 'line');
  const [line] = await Promise.race([ready, exited.then(() => [''])]);
  const [origin, pid] = String(line).split(' ');
  if (origin === undefined || pid === undefined) throw new Error('The host did not start.');
  return {
    origin,
    pid,
    async end() {
      child.kill();
      await exited;
    },
  };
}

if (import.meta.url === pathToFileURL(resolve(process.argv[1] ?? '')).href) {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  await play({
    say,
    person: process.argv.includes('--by-hand')
      ? async (origin, password) =>
          say(`page: open ${origin}/approvals/ and sign in with the password ${password}`)
      : scriptedPerson(say),
  });
}
