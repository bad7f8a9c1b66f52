/**
 * `npm run bench:code`: twenty tasks, each done by single calls of a model and as one program, over
 * real sessions. The model is scripted: it makes the calls of the program, those that need no
 * answer of each other in one turn. What is printed is what a model reads and writes, at four
 * characters a token, and the time of the calls without that of a model. `--write` puts the table
 * in docs/code.md.
 */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  defineTool,
  HostToolRegistry,
  type JsonObject,
  serializeOutput,
  type ToolSession,
} from '../src/index.ts';
import { tasks, tools } from './code/tasks.ts';
import { readLines, type ToolLine } from './search/data.ts';

const { values } = parseArgs({ options: { write: { type: 'boolean' } } });

/** How a task was done. */
interface Done {
  readonly answer: unknown;
  readonly calls: number;
  readonly turns: number;
  /** What the model reads in all its turns, and what it writes. */
  readonly read: number;
  readonly written: number;
  readonly ms: number;
}

const tokens = (chars: number): number => Math.ceil(chars / 4);

const definitions = (session: ToolSession): string =>
  JSON.stringify(
    session.tools().map(({ name, description, inputSchema }) => ({
      name,
      description,
      parameters: inputSchema,
    })),
  );

/** A conversation: each turn reads the definitions and all that was said before. */
class Conversation {
  readonly #definitions: number;
  #said = 0;
  #read = 0;
  #written = 0;
  turns = 0;

  constructor(session: ToolSession, task: string) {
    this.#definitions = definitions(session).length;
    this.#said = task.length;
  }

  turn(writes: string): void {
    this.turns++;
    this.#read += this.#definitions + this.#said;
    this.#written += writes.length;
    this.#said += writes.length;
  }

  hears(text: string): void {
    this.#said += text.length;
  }

  counts(): Pick<Done, 'turns' | 'read' | 'written'> {
    return { turns: this.turns, read: tokens(this.#read), written: tokens(this.#written) };
  }
}

interface Asked {
  readonly name: string;
  readonly input: JsonObject;
  readonly answer: (output: unknown) => void;
}

type Body = (tools: object) => Promise<unknown>;
const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor as new (
  ...args: string[]
) => Body;

async function byCalls(task: string, source: string): Promise<Done> {
  const session = registry.createSession({ sessionId: task });
  const talk = new Conversation(session, task);
  let calls = 0;
  let queue: Asked[] = [];
  const turn = async (): Promise<void> => {
    const asked = queue;
    queue = [];
    talk.turn(JSON.stringify(asked.map(({ name, input }) => ({ name, input }))));
    calls += asked.length;
    await Promise.all(
      asked.map(async ({ name, input, answer }) => {
        const result = await session.call(name, input);
        assert.ok(result.success, `${task}: ${name}`);
        talk.hears(serializeOutput(result));
        answer(result.output);
      }),
    );
  };
  const made = new Proxy(
    {},
    {
      get: (_, name: string) => (input: JsonObject) =>
        new Promise((answer) => {
          // All that is asked for before the next turn of the loop is one turn of the model.
          if (queue.length === 0) setImmediate(() => void turn());
          queue.push({ name, input, answer });
        }),
    },
  );
  const start = performance.now();
  const answer = await new AsyncFunction('tools', source)(made);
  const ms = performance.now() - start;
  talk.turn(JSON.stringify(answer));
  return { answer, calls, ms, ...talk.counts() };
}

async function byProgram(task: string, source: string): Promise<Done> {
  const session = registry.createSession({ sessionId: task, code: {} });
  const talk = new Conversation(session, task);
  talk.turn(JSON.stringify({ name: 'run_code', input: { code: source } }));
  let calls = 0;
  session.events.on('tool:pre', () => void calls++);
  const start = performance.now();
  const result = await session.call('run_code', { code: source });
  const ms = performance.now() - start;
  assert.ok(result.success, `${task}: ${JSON.stringify(result.error)}`);
  talk.hears(serializeOutput(result));
  talk.turn(JSON.stringify(result.output));
  return { answer: result.output, calls: calls - 1, ms, ...talk.counts() };
}

const registry = new HostToolRegistry();
registry.registerAll(tools);
// The first program of a process starts a thread, which is no part of a task.
await byProgram('warm-up', 'return 1');

const heads = ['task', 'calls', 'turns', 'tokens read', 'tokens written', 'ms'];
const rows: string[][] = [];
const sums = [0, 1].map(() => ({ calls: 0, turns: 0, read: 0, written: 0, ms: 0 }));
const columns = ['turns', 'read', 'written', 'ms'] as const;
const grouped = (value: number): string =>
  Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ' ');
const shown = (one: number, other: number): string => `${grouped(one)} → ${grouped(other)}`;
for (const [task, source] of Object.entries(tasks)) {
  const done = [await byCalls(task, source), await byProgram(task, source)] as const;
  const [single, program] = done;
  assert.deepEqual(program.answer, JSON.parse(JSON.stringify(single.answer)), task);
  assert.equal(program.calls, single.calls, task);
  rows.push([task, `${single.calls}`, ...columns.map((at) => shown(single[at], program[at]))]);
  for (const [at, sum] of sums.entries())
    for (const column of ['calls', ...columns] as const) sum[column] += done[at]?.[column] ?? 0;
}
const [single, program] = sums as [(typeof sums)[0], (typeof sums)[0]];
rows.push(['all', `${single.calls}`, ...columns.map((at) => shown(single[at], program[at]))]);

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const table = [heads, heads.map(() => '---'), ...rows].map(line).join('\n');
console.log(table);

interface Listed {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: JsonObject;
  readonly parameters?: JsonObject;
}

/** Real tools, in a registry of their own. A name that is there already is left out. */
function registryOf(listed: readonly Listed[]): HostToolRegistry {
  const made = new HostToolRegistry({ logger: { warn() {}, error() {} } });
  for (const { name, description = '', inputSchema, parameters = inputSchema } of listed) {
    try {
      const definition = { name, description, parameters: parameters as JsonObject };
      made.register(defineTool({ ...definition, handler: () => null }));
    } catch {
      // It looks like another one.
    }
  }
  return made;
}

/** Tokens of definitions, and of the tool that declares the same tools. */
function sizes(what: string, made: HostToolRegistry): string[] {
  const code = { maxDeclarationTokens: 1_000_000 };
  const plain = made.createSession({ sessionId: 'plain' });
  const [one = 0, other = 0] = [plain, made.createSession({ sessionId: 'code', code })].map(
    (session) => tokens(definitions(session).length),
  );
  const percent = `${Math.round((100 * other) / one)} %`;
  return [what, `${plain.tools().length}`, grouped(one), grouped(other), percent];
}

const data = new URL('../test/data/', import.meta.url);
const sizeRows = [
  ['tools', 'how many', 'definitions', '`run_code` with declarations', ''],
  Array(5).fill('---'),
  sizes('of these tasks', registry),
];
for (const name of ['filesystem', 'memory', 'everything']) {
  const text = await readFile(new URL(`mcp-schemas/${name}.json`, data), 'utf8');
  sizeRows.push(sizes(`MCP server \`${name}\``, registryOf(JSON.parse(text) as Listed[])));
}
const bfcl = await readLines<ToolLine & Listed>(
  fileURLToPath(new URL('bfcl-sample-tools.jsonl', data)),
);
sizeRows.push(sizes('a sample of BFCL', registryOf(bfcl)));
const sizeTable = sizeRows.map(line).join('\n');
console.log(`\n${sizeTable}`);

if (values.write === true) {
  const file = new URL('../docs/code.md', import.meta.url);
  const text = await readFile(file, 'utf8');
  const [start, end] = ['<!-- tasks -->', '<!-- /tasks -->'];
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from === -1 || to < from)
    throw new Error(`docs/code.md: expected the markers ${start} and ${end}.`);
  await writeFile(
    file,
    `${text.slice(0, from + start.length)}\n${table}\n\n${sizeTable}\n${text.slice(to)}`,
  );
}
process.exit(0);
