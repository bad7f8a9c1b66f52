import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type AnyTool,
  defineTool,
  HostToolRegistry,
  type MisuseError,
} from '../../../src/index.ts';
import { createTestSession, mockTool, recordEvents } from '../../../src/surfaces/testing/index.ts';
import { thrownBy } from '../call/define.ts';

const parameters = z.object({ to: z.string(), cents: z.number().default(1) });
const handler = ({ to }: { to: string }) => `sent to ${to}`;
const fields = {
  parameters: 'inputSchema',
  handler: 'execute',
  requiresApproval: 'needsApproval',
} as const;
const hints = {
  readOnly: 'readOnlyHint',
  destructive: 'destructiveHint',
  idempotent: 'idempotentHint',
  openWorld: 'openWorldHint',
} as const;
const base = { name: 'send', description: 'Sends.' };
const faultOf = (run: () => unknown) => thrownBy(run) as MisuseError;
const make = (config: object): AnyTool<unknown> => defineTool(config as never) as AnyTool<unknown>;

/** The same members, with the other name of those that are chosen. */
function respelled(
  members: Readonly<Record<string, unknown>>,
  others: Readonly<Record<string, string>>,
  chosen: ReadonlySet<string>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      chosen.has(name) ? (others[name] ?? name) : name,
      value,
    ]),
  );
}

/** All that can be seen of a tool: its definition, its listing, its events and its results. */
async function seen(tool: AnyTool<unknown>): Promise<unknown> {
  const asked: unknown[] = [];
  const session = createTestSession({
    tools: [tool],
    approver: (request) => {
      asked.push(request.title, request.message, request.risk, request.tool.fingerprint);
      return 'allow_once';
    },
  });
  const log = recordEvents(session);
  const { output, error, success } = await session.call('send', { to: 'ann' });
  return {
    members: Object.entries(tool),
    schema: tool.parameters,
    fingerprint: tool.fingerprint,
    listed: JSON.stringify(session.tools()),
    explained: await session.explain('send', { to: 'ann' }),
    events: log.events.map(({ type }) => type),
    asked,
    output,
    error,
    success,
  };
}

test('a tool is the same, whichever names its fields and hints have', async () => {
  const questions = fc.constantFrom<unknown>(
    true,
    false,
    { title: 'Send it?', risk: 'high' },
    ({ cents }: { cents: number }) => cents > 0,
    async ({ to }: { to: string }) => to === 'ann' && { title: `To ${to}?` },
  );
  await fc.assert(
    fc.asyncProperty(
      questions,
      fc.record(
        {
          readOnly: fc.boolean(),
          destructive: fc.boolean(),
          idempotent: fc.boolean(),
          openWorld: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
      fc.subarray(Object.keys({ ...fields, ...hints })),
      async (requiresApproval, annotations, chosen) => {
        const members = { ...base, parameters, handler, requiresApproval };
        const others = new Set(chosen);
        const spelled = {
          ...respelled(members, fields, others),
          annotations: respelled(annotations, hints, others),
        };
        expect(await seen(make(spelled))).toEqual(await seen(make({ ...members, annotations })));
      },
    ),
    { numRuns: 60 },
  );
});

describe('both names of a field are refused, whatever their values are', () => {
  const values: Record<keyof typeof fields, readonly unknown[]> = {
    parameters: [parameters, { type: 'object' }, null],
    handler: [handler],
    requiresApproval: [true, false, { title: 'Send it?' }, () => true, null],
  };
  const rows = (Object.keys(fields) as (keyof typeof fields)[]).flatMap((name) =>
    values[name].flatMap((one) =>
      values[name].map((two) => [name, fields[name], one, two] as const),
    ),
  );
  test.each(rows)('%s and %s', (name, other, one, two) => {
    const config = { ...base, parameters, handler, [name]: one, [other]: two };
    const { code, message } = faultOf(() => make(config));
    expect(code).toBe('invalid_definition');
    expect(message).toBe(
      `Tool \`send\`: expected one of \`${name}\` and \`${other}\`, got both, two names of one ` +
        'field. Leave one of them out.',
    );
  });
  test.each(Object.entries(hints))('the hints %s and %s', (name, other) => {
    const annotations = { [name]: false, [other]: false };
    expect(faultOf(() => make({ ...base, parameters, handler, annotations })).message).toContain(
      `expected one of \`annotations.${name}\` and \`annotations.${other}\`, got both`,
    );
  });
});

test('one name may be undefined, so that options can be passed on', () => {
  const tool = make({
    ...base,
    parameters: undefined,
    inputSchema: parameters,
    handler,
    execute: undefined,
    requiresApproval: undefined,
    needsApproval: true,
  });
  expect(tool.parameters.required).toEqual(['to']);
  expect(new HostToolRegistry().register(tool)).toBeDefined();
});

test.each<[string, object]>([
  ['Tool `send`, `inputSchema`', { inputSchema: 7, handler }],
  ['expected `execute` to be a function', { parameters, execute: 7 }],
  ['expected `needsApproval` to be a boolean', { parameters, handler, needsApproval: 'yes' }],
  ['got none', { parameters }],
  ['got execute and create', { parameters, execute: handler, create: () => ({ handler }) }],
  ['got execute and external', { parameters, execute: handler, external: true }],
  ['Tool `send`, `parameters`', { handler }],
])('a fault is reported under the name that was given: %s', (words, config) => {
  expect(faultOf(() => make({ ...base, ...config })).message).toContain(words);
});

test('a definition shows the names of this library alone', () => {
  const tool = make({ ...base, inputSchema: parameters, execute: handler, needsApproval: true });
  for (const name of Object.values(fields)) expect(name in tool).toBe(false);
  expect(tool.parameters).toEqual(make({ ...base, parameters, handler }).parameters);
});

test('names on Object.prototype are not read', () => {
  Object.defineProperty(Object.prototype, 'execute', { value: handler, configurable: true });
  try {
    expect(faultOf(() => make({ ...base, parameters })).message).toContain('got none');
    expect(make({ ...base, parameters, handler }).name).toBe('send');
  } finally {
    delete (Object.prototype as { execute?: unknown }).execute;
  }
});

describe('a field that the config inherits is refused, because it would not be read', () => {
  const plain = { ...base, parameters, handler };
  class Asking {
    name = 'send';
    description = 'Sends.';
    parameters = parameters;
    handler = handler;
    get needsApproval(): boolean {
      return true;
    }
  }
  class Deeper extends Asking {}
  class Spending {
    check(): never {
      throw new Error('never called');
    }
  }
  const rows: [field: string, config: object][] = [
    ['needsApproval', new Asking()],
    ['needsApproval', new Deeper()],
    ...Object.values(fields).map((name): [string, object] => [
      name,
      Object.assign(Object.create({ [name]: true }), plain),
    ]),
    ['policy.check', { ...plain, policy: new Spending() }],
    ['annotations.destructive', { ...plain, annotations: Object.create({ destructive: true }) }],
  ];
  test.each(rows)('%s', (field, config) => {
    expect(faultOf(() => make(config)).message).toContain(`\`${field}\` is inherited`);
    expect(faultOf(() => mockTool(config as never)).message).toContain(`\`${field}\` is inherited`);
  });
  test('unless the config has it itself, or it inherits no field', () => {
    const own = Object.assign(Object.create({ needsApproval: true, other: 1 }), plain, {
      needsApproval: false,
    });
    expect(make(own).name).toBe('send');
    expect(make(Object.assign(Object.create(null), plain)).name).toBe('send');
  });
});

describe('a mock takes the same names', () => {
  test('and is called', async () => {
    const mock = mockTool({
      name: 'send',
      inputSchema: parameters,
      execute: ({ cents }) => cents + 1,
      needsApproval: false,
    });
    const session = createTestSession({ tools: [mock] });
    expect((await session.call(mock, { to: 'ann' })).output).toBe(2);
    expect(mock.lastInput).toEqual({ to: 'ann', cents: 1 });
  });
  test.each<[object, string]>([
    [{ parameters, inputSchema: parameters }, 'expected one of `parameters` and `inputSchema`'],
    [{ handler, execute: handler }, 'got `handler` and `execute`'],
    [{ output: 1, execute: handler }, 'got `output` and `execute`'],
    [{ requiresApproval: true, needsApproval: true }, 'and `needsApproval`, got both'],
  ])('and refuses both of a pair', (config, words) => {
    const { code, message } = faultOf(() => mockTool({ name: 'send', ...config } as never));
    expect(code).toBe('invalid_definition');
    expect(message).toContain(words);
  });
});
