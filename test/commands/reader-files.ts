/** Files that the pages take for granted: a reader has files of this kind. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { HostToolRegistry } from '../../src/index.ts';
import { createAuditLog } from '../../src/surfaces/audit/index.ts';
import { mockTool } from '../../src/surfaces/testing/index.ts';
import { createWorkflow, writeTrace } from '../../src/surfaces/workflow/index.ts';
import { fencesOf, guidePages } from '../docs/pages.ts';
import type { Place } from './stage.ts';

/** The fences of a page that a reader saves, by the name in their first line or by their number. */
export function fenceOf(path: string, named: string): string {
  const page = guidePages().find((one) => one.path === path);
  const code = fencesOf(page?.text ?? '')
    .map((fence) => fence.code)
    .find((text) => text.split('\n', 1)[0]?.endsWith(named));
  if (code === undefined) throw new Error(`${path} has no fence that begins with ${named}.`);
  return code;
}

/** The first program of a page, with what continues it, or without. */
export function programOf(path: string, continued = true): string {
  const page = guidePages().find((one) => one.path === path);
  const programs: string[] = [];
  for (const { info, code } of fencesOf(page?.text ?? '')) {
    if (info === 'ts') programs.push(code);
    else if (info === 'ts continued' && continued) programs.push(`${programs.pop()}\n${code}`);
  }
  if (programs[0] === undefined) throw new Error(`${path} has no program.`);
  return programs[0];
}

const code = `
export const greet = ({ name }) => ({ said: \`Hello, \${name}!\` });
export const push = () => 'pushed';
export const exec = () => 'ran';
export const open = () => null;
export const git_status = () => 'clean';
export const read_file = () => 'text';
`;

const greet = `
  - name: greet
    title: Greet somebody
    description: Says hello.
    module: ./tools.mjs
    parameters: { type: object, properties: { name: { type: string } }, required: [name] }
    annotations: { readOnly: true }`;
const push = `
  - name: push
    description: Pushes a branch.
    module: ./tools.mjs
    parameters: { type: object, properties: { branch: { type: string } } }
    requiresApproval: true
    annotations: { destructive: true }`;
const others = `
  - { name: exec, description: Runs a command., module: ./tools.mjs, parameters: { type: object }, requires: [{ fact: hostSession.status, equals: ready }] }`;
const noMain = `
rules:
  - { id: no-main, effect: deny, tools: push, when: { branch: main }, reason: main_is_protected }
`;

/** The tools of docs/command-line.md, and of pages that have none of their own. */
export const tools = {
  'tools.mjs': code,
  'tools.yaml': `tools:${greet}${push}${others}
${noMain}
profiles:
  reader: { tools: [greet], limits: { callsPerMinute: 10 } }
  writer:
    default: ask
    tools: [greet, push, exec]
    rules:
      - { id: greetings, effect: allow, tools: greet }
      - { id: frozen, effect: deny, tools: push, when: { branch: { glob: "release/*" } }, reason: no_changes }
`,
};

export const policies = {
  'policies.yaml': `tests:
  - name: the main branch is protected
    tool: push
    input: { branch: main }
    expect: { decision: deny, reason: main_is_protected, ruleId: no-main }
`,
};

/** Two versions of a file of tools. */
export const versions = {
  'old/tools.yaml': versionOf('1.0.0', 5, 'open'),
  'tools.yaml': versionOf('1.1.0', 9, 'close'),
};

function versionOf(version: string, maxLength: number, other: string): string {
  return `tools:
  - name: find
    description: Finds.
    version: ${version}
    external: true
    parameters: { type: object, properties: { q: { type: string, maxLength: ${maxLength} } } }
  - { name: ${other}, description: Opens., external: true, parameters: { type: object } }
`;
}

/** Recorded calls, and rules that judge them in another way. */
export const recorded = {
  'tools.mjs': code,
  'tools.yaml': `tools:${push}
  - { name: open, description: Opens., module: ./tools.mjs, parameters: { type: object } }
${noMain}`.replace('    requiresApproval: true\n', ''),
  'new.yaml': `rules:
  - { id: no-main, effect: ask, tools: push, when: { branch: main } }
  - { id: careful, effect: ask, tools: open }
  - { id: idle, effect: deny, tools: nothing_of_this_name }
`,
  'calls.jsonl': [
    { callId: 'c1', toolName: 'push', input: { branch: 'main' } },
    { callId: 'c2', toolName: 'open', input: {} },
    { callId: 'c3', toolName: 'push', input: { branch: 'a' } },
    { callId: 'c4', toolName: 'push', input: { branch: 'b' } },
    { callId: 'c5', toolName: 'gone', input: {} },
  ]
    .map((call) => `${JSON.stringify(call)}\n`)
    .join(''),
};

/** An MCP server over standard input and output, without any package. */
const answers = `
export const answer = ({ id, method, params }) => {
  const results = {
    initialize: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'notes', version: '1.0.0' },
    },
    'tools/list': {
      tools: [{ name: 'read_note', description: 'Reads a note.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }],
    },
  };
  const result = results[method];
  return { jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: 'unknown' } }) };
};
`;
export const server = {
  'server.mjs': `${answers.replace('export ', '')}
import { createInterface } from 'node:readline';
createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.id !== undefined) console.log(JSON.stringify(answer(message)));
});
`,
};
const entry = { mcpServers: { files: { command: 'node', args: ['server.mjs'] } } };
/** The settings of a client with that server. */
export const client = { ...server, '.mcp.json': JSON.stringify(entry) };
/** A gateway whose clients run programs. */
export const programs = JSON.stringify({ ...entry, code: true });
export const gateway = { ...server, 'gateway.yaml': JSON.stringify(entry) };

/** What a client sends to a server first. */
export const hello = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1.0.0' },
  },
})}\n`;

/** Starts the same server over HTTP. It asks for no login. */
export async function startServer(): Promise<{ url: string; close(): void }> {
  const { answer } = (await import(`data:text/javascript,${encodeURIComponent(answers)}`)) as {
    answer(message: object): object;
  };
  const http: Server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const message = JSON.parse(text) as { id?: unknown };
    if (message.id === undefined) return void response.writeHead(202).end();
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer(message)));
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    close() {
      http.closeAllConnections();
      http.close();
    },
  };
}

const key = 'a key of the log that nobody else has';

/** Writes two audit logs without a key, as those of gateways are. */
export async function writeAudit({ folder }: Place): Promise<void> {
  for (const name of ['audit.jsonl', 'audit-2.jsonl']) await writeLog(join(folder, name));
}

/** Writes two audit logs with a key, the key, and the head of the first one. */
export async function writeKeyedAudit({ folder }: Place): Promise<void> {
  const head = await writeLog(join(folder, 'audit.jsonl'), key);
  await writeLog(join(folder, 'audit-2.jsonl'), key);
  writeFileSync(join(folder, 'audit.secret'), key);
  writeFileSync(join(folder, 'heads.txt'), `2026-01-01T00:00:00.000Z 1 ${head}\n`);
}

/** Writes a log of one call, and returns its head. */
async function writeLog(path: string, withKey?: string): Promise<string> {
  const audit = createAuditLog({ path, ...(withKey !== undefined && { key: withKey }) });
  const registry = new HostToolRegistry();
  audit.attach(registry);
  registry.register(mockTool({ name: 'push', output: 'pushed' }));
  await registry.createSession({ sessionId: 's' }).call('push', { branch: 'main' });
  await registry.close();
  await audit.close();
  return audit.head().hash;
}

/** Writes the trace of a workflow. */
export function writeRun({ folder }: Place): void {
  const workflow = createWorkflow({
    tools: [{ name: 'look' }],
    profiles: { p: ['look'] },
    profile: 'p',
  });
  const events = [{ type: 'run_requested' }, { type: 'run_completed' }] as const;
  writeFileSync(join(folder, 'run.jsonl'), writeTrace(workflow, [...events]));
}
