/**
 * Only own members count: what a careless merge put on `Object.prototype` changes no outcome and
 * breaks no session.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { optionNames } from '../../../src/extend.ts';
import { defineTool, HostToolRegistry, type ToolResult } from '../../../src/index.ts';

const added = new Set<string>();
function pollute(name: string, value: unknown): void {
  added.add(name);
  Object.defineProperty(Object.prototype, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}
afterEach(() => {
  for (const name of added) Reflect.deleteProperty(Object.prototype, name);
  added.clear();
});

// Made before anything is polluted: zod itself reads inherited members when it writes a schema as
// JSON Schema.
const definitions = [
  defineTool({
    name: 'shell',
    description: 'Runs.',
    parameters: z.object({ cmd: z.string(), depth: z.number().default(1) }),
    outputSchema: z.object({ said: z.string() }),
    handler: ({ cmd }, { principal = 'nobody' }) => ({ said: `${principal} ${cmd}` }),
  }),
  defineTool({
    name: 'raw',
    description: 'Raw.',
    parameters: {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'integer', default: 2 } },
      required: ['a'],
      additionalProperties: false,
    },
    handler: (input) => input,
  }),
  defineTool({
    name: 'gated',
    description: 'Gated.',
    parameters: { type: 'object' },
    requires: [{ fact: 'unlocked', equals: true }],
    handler: () => 1,
  }),
  defineTool({
    name: 'knobbed',
    description: 'Has knobs.',
    parameters: { type: 'object' },
    policy: {
      knobs: z.object({ depth: z.number().default(3) }),
      check: ({ knobs, allow, deny }) => (knobs.depth > 5 ? deny('too_deep') : allow()),
    },
    handler: (_input, { knobs }) => knobs as { depth: number },
  }),
];

/** One call in every way that a verdict, an approval or a limit can go; what came of each. */
async function outcomes(): Promise<string[]> {
  const registry = new HostToolRegistry({
    rules: [
      { id: 'no-rm', effect: 'deny', tools: 'shell', when: { cmd: 'rm' } },
      { id: 'ask-mv', effect: 'ask', tools: 'shell', when: [{ path: ['cmd'], equals: 'mv' }] },
    ],
    policies: [
      { id: 'p', check: ({ input }) => (input.cmd === 'nonsense' ? ({} as never) : undefined) },
    ],
    approvals: { secret: 'a secret that is long enough to be one' },
  });
  registry.registerAll(definitions);
  registry.defineProfile({ id: 'few', tools: ['shell', { name: 'knobbed', knobs: { depth: 4 } }] });
  const plain = registry.createSession({ sessionId: 'plain' });
  const few = registry.createSession({
    sessionId: 'few',
    profile: 'few',
    hooks: [{ after: () => undefined }, { before: () => ({}) as never }],
  });
  const asking = registry.createSession({
    sessionId: 'asking',
    approver: () => ({ decision: 'allow_once' }),
  });
  const strict = new HostToolRegistry({ default: 'deny' });
  strict.register(
    defineTool({
      name: 'shell',
      description: 'Runs.',
      parameters: { type: 'object' },
      handler: () => 1,
    }),
  );
  const judged = strict.createSession({
    sessionId: 'judged',
    policies: [{ id: 'q', check: () => ({}) as never }],
  });
  const suspending = registry.createSession({
    sessionId: 'suspending',
    principal: 'ada',
    approvalMode: 'suspend',
  });
  const told = ({ success, output, error, metadata }: ToolResult): string => {
    const parts = Object.entries(error ?? {}).filter(([key]) => ['reason', 'ruleId'].includes(key));
    const outcome = success ? output : [error.code, ...parts];
    return `${metadata.toolName} ${metadata.status}: ${JSON.stringify(outcome)}`;
  };
  const results = [
    await plain.call('shell', { cmd: 'ls' }),
    await plain.call('shell', { cmd: 'rm' }),
    await plain.call('shell', { cmd: 'mv' }),
    await plain.call('shell', { cmd: 'nonsense' }),
    await plain.call('shell', { cmd: 7 }),
    await plain.call('raw', { a: 'x' }, { timeoutMs: 60_000 }),
    await plain.call('raw', { a: 'x', extra: 1 }),
    await plain.call('gated', {}),
    await plain.call('nowhere', {}),
    await few.call('raw', { a: 'x' }),
    await few.call('knobbed', {}),
    await asking.call('shell', { cmd: 'mv' }),
    await judged.call('shell', {}),
    await suspending.call('shell', { cmd: 'mv' }),
    await (plain.tools()[0]?.execute({ cmd: 'ls' }, {}) as Promise<ToolResult>),
    ...(await plain.executeBatch([{ id: '1', name: 'raw', arguments: { a: 'y' } }])).results.map(
      ({ result }) => result,
    ),
  ];
  const explained = await plain.explain('shell', { cmd: 'rm' });
  const listed = [plain, few, asking, judged].map((session) =>
    session.effectiveTools().names.join(),
  );
  await registry.close();
  return [
    ...results.map(told),
    `${explained.code} ${explained.ruleId}`,
    ...listed,
    // All but how long the calls took.
    JSON.stringify(plain.metrics().byTool, (key, value: unknown) =>
      key === 'durationMs' ? undefined : value,
    ),
  ];
}

const names = new Set([
  ...optionNames.session,
  ...optionNames.registry,
  ...optionNames.tool,
  ...'sessionId secret store ttlMs'.split(' '),
  ...(
    'callId timeoutMs idempotencyKey resourceKey surface name outside client strictNulls ' +
    'started'
  ).split(' '),
  ...(
    'effect shadow reason message prompt action input decision by grant match uses expiresInMs ' +
    'title risk'
  ).split(' '),
  ...'tools tags annotations source when id path equals in glob matches layer'.split(' '),
  'check',
  ...(
    'before after success output error code dispose unlocked enable disable force optional ' +
    'extends fact'
  ).split(' '),
  ...(
    'callsPerMinute maxConcurrentCalls maxQueuedCalls queueTimeoutMs maxPendingApprovals ' +
    'loopGuard maxInputBytes readOnly destructive idempotent openWorld'
  ).split(' '),
  ...'stopOnError arguments anything 0 1 2 3'.split(' '),
]);

const values: readonly (readonly [string, unknown])[] = [
  ['true', true],
  ['a number', 1],
  ['a text', 'allow'],
  ['a list', ['shell', 'raw', 'gated']],
  ['an object', { unlocked: true, force: ['gated'], approver: () => 'allow_once' }],
  ['a function', () => 'allow_once'],
];

describe('a polluted prototype', () => {
  test('is what these tests make', () => {
    pollute('anything', 1);
    expect(({} as Record<string, unknown>).anything).toBe(1);
  });

  test.each(values)('changes no outcome, whatever member it has: %s', async (_, value) => {
    const expected = await outcomes();
    expect(expected).toHaveLength(22);
    const changed: string[] = [];
    for (const name of names) {
      pollute(name, value);
      const got = await outcomes().catch((error: unknown) => [`threw ${String(error)}`]);
      Reflect.deleteProperty(Object.prototype, name);
      const first = got.findIndex((one, index) => one !== expected[index]);
      if (first !== -1) changed.push(`${name}: ${got[first]} instead of ${expected[first]}`);
    }
    expect(changed).toEqual([]);
  });
});
