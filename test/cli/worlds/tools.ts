// Tools for the tests of the command line, as a host's module would give them.
import { defineTool, type HostToolRegistry, jsonSchema } from '../../../src/index.ts';

type Person = { name?: string };
const anything = { type: 'object' } as const;

const greet = defineTool({
  name: 'greet',
  title: 'Greet somebody',
  description: 'Says hello.\nTo whom is up to you.',
  parameters: jsonSchema<Person>({
    type: 'object',
    properties: { name: { type: 'string' } },
    required: ['name'],
    additionalProperties: false,
  }),
  annotations: { readOnly: true },
  tags: ['talk'],
  version: '1.2.0',
  handler: ({ name }, { cwd }) => ({ said: `Hello, ${name}!`, cwd }),
});

const push = defineTool({
  name: 'push',
  description: 'Pushes a branch.',
  parameters: jsonSchema<{ branch?: string; token?: string }>({
    type: 'object',
    properties: { branch: { type: 'string' }, token: { type: 'string', 'x-secret': true } },
  }),
  annotations: { destructive: true },
  requiresApproval: {
    title: 'Push?\u001b[2J',
    message: 'First line\nAllow? [y/N] y',
    risk: 'high',
  },
  policy: {
    knobs: jsonSchema<{ remote?: string }>({
      type: 'object',
      properties: { remote: { type: 'string', default: 'origin' } },
    }),
  },
  timeoutMs: 60_000,
  handler: () => 'pushed',
});

const exec = defineTool({
  name: 'exec',
  description: 'Runs a command.',
  parameters: anything,
  requires: [{ fact: 'hostSession.status', equals: 'ready' }],
  handler: () => 'ran',
});

const open = defineTool({
  name: 'open',
  description: 'Opens the host.',
  parameters: anything,
  provides: ['hostSession.status'],
  handler: () => null,
});

const fails = defineTool({
  name: 'fails',
  description: 'Fails.',
  parameters: anything,
  handler: () => {
    throw new Error('no \u001b[31mluck\u009b2J\nhost-tools: all is well');
  },
});

const talks = defineTool({
  name: 'talks',
  description: 'Reports progress, logs, and prints where it should not.',
  parameters: anything,
  handler: (_input, context) => {
    for (let done = 1; done <= 500; done++) context.progress(done, 500, 'step\u001b[2J');
    context.log('warning', 'careful\r\nhost-tools: fine');
    context.log('info', { at: 3 });
    // It must not land in the answer.
    console.log('printed by the handler');
    return 'done';
  },
});

const hangs = defineTool({
  name: 'hangs',
  description: 'Never ends, and keeps the process alive.',
  parameters: anything,
  handler: (_input, context) => {
    setInterval(() => {}, 60_000);
    context.log('info', 'started');
    return new Promise(() => {});
  },
});

const clings = defineTool({
  name: 'clings',
  description: 'Its clean-up never ends.',
  parameters: anything,
  create: () => ({
    handler: () => 'done',
    dispose: () => new Promise<void>(() => setInterval(() => {}, 60_000)),
  }),
});

const big = defineTool({
  name: 'big',
  description: 'Gives much.',
  parameters: anything,
  handler: () => 'x'.repeat(600_000),
});

const waits = defineTool({
  name: 'waits',
  description: 'Ends when it is told to.',
  parameters: anything,
  handler: (_input, { signal }) =>
    new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(new Error('told')), { once: true }),
    ),
});

const pair = defineTool({
  name: 'pair',
  description: 'Pushes twice at once.',
  parameters: anything,
  uses: ['push'],
  handler: async (_input, { tools }) => {
    const results = await Promise.all(
      ['one', 'two'].map((branch) => tools.call('push', { branch })),
    );
    return results.map(({ success }) => success);
  },
});

export function setupHostTools(registry: HostToolRegistry): void {
  registry.registerAll([greet, push, exec, open, fails, talks, hangs, clings, big, waits, pair]);
}
