/**
 * What factories do with options that throw, change or have holes: they name themselves and the
 * option in a MisuseError, and make nothing.
 */
import { describe, expect, test } from 'vitest';
import { defineTool, HostToolRegistry, isMisuseError } from '../src/index.ts';
import { toAiSdkTools } from '../src/surfaces/ai-sdk/index.ts';
import { createTestSession, mockTool } from '../src/surfaces/testing/index.ts';
import { computeEffective, createWorkflow, runHostLoop } from '../src/surfaces/workflow/index.ts';

const echo = mockTool({ name: 'echo' });
const tool = { name: 'tool', description: 'A tool.', parameters: {}, handler: () => null };
const session = createTestSession({ tools: [echo] });

const throws = (): never => {
  throw new Error('gone');
};
/** Throws whatever is asked of it. */
const hostile = (): never =>
  new Proxy(
    {},
    { get: throws, has: throws, ownKeys: throws, getPrototypeOf: throws },
  ) as unknown as never;
const revoked = (): never => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy as unknown as never;
};
/** An array whose only item throws. */
const throwingItem = (): never =>
  Object.defineProperty([1], 0, { enumerable: true, get: throws }) as unknown as never;
const hole = (): never => new Array(1) as unknown as never;

async function messageOf(make: () => unknown): Promise<string> {
  try {
    await make();
  } catch (error) {
    return isMisuseError(error) ? error.message : `not a MisuseError: ${String(error)}`;
  }
  return 'nothing was refused';
}

const factories: readonly (readonly [
  factory: string,
  option: string,
  make: (value: never) => unknown,
  values: readonly (() => never)[],
])[] = [
  [
    'HostToolRegistry',
    'rules',
    (rules) => new HostToolRegistry({ rules }),
    [revoked, throwingItem],
  ],
  [
    'HostToolRegistry',
    'policies',
    (policies) => new HostToolRegistry({ policies }),
    [revoked, hole, throwingItem, () => [hostile()] as never],
  ],
  [
    'HostToolRegistry',
    'approvals.secret',
    (secret) => new HostToolRegistry({ approvals: { secret } }),
    [revoked, hostile, throwingItem],
  ],
  [
    'HostToolRegistry',
    'redact',
    (redact) => new HostToolRegistry({ redact }),
    [hole, throwingItem],
  ],
  [
    'HostToolRegistry',
    'logger',
    (logger) => new HostToolRegistry({ logger }),
    [revoked, hostile, () => console.log as never, () => ({ warn: throws }) as never],
  ],
  [
    'createSession',
    'environment',
    (environment) => session.registry.createSession({ sessionId: 's', environment }),
    [revoked, hostile],
  ],
  [
    'createSession',
    'overrides',
    (overrides) => session.registry.createSession({ sessionId: 's', overrides }),
    [revoked, hostile],
  ],
  [
    'createSession',
    'rules',
    (rules) => session.registry.createSession({ sessionId: 's', rules }),
    [revoked, throwingItem],
  ],
  [
    'createSession',
    'policies',
    (policies) => session.registry.createSession({ sessionId: 's', policies }),
    [revoked, hole, throwingItem, () => [hostile()] as never],
  ],
  [
    'createSession',
    'hooks',
    (hooks) => session.registry.createSession({ sessionId: 's', hooks }),
    [revoked, hole, throwingItem, () => [hostile()] as never],
  ],
  [
    'scope',
    'rules',
    (rules) => session.registry.scope('plugin', { rules }),
    [revoked, throwingItem],
  ],
  [
    'defineTool',
    'name',
    (given) => defineTool(given),
    [() => Object.defineProperty({ ...tool }, 'name', { enumerable: true, get: throws }) as never],
  ],
  [
    'Tool `tool`',
    'parameters',
    (parameters) => defineTool({ ...tool, parameters }),
    [revoked, hostile],
  ],
  [
    'Tool `tool`',
    'outputSchema',
    (outputSchema) => defineTool({ ...tool, outputSchema } as never),
    [revoked, hostile],
  ],
  [
    'Tool `tool`',
    'requiresApproval',
    (requiresApproval) => defineTool({ ...tool, requiresApproval }),
    [revoked, hostile],
  ],
  ['Tool `tool`', 'uses', (uses) => defineTool({ ...tool, uses }), [hole, throwingItem]],
  [
    'Tool `tool`',
    'requires',
    (requires) => defineTool({ ...tool, requires }),
    [hole, throwingItem],
  ],
  ['toAiSdkTools', 'tools', (tools) => toAiSdkTools(session, { tools }), [hole, throwingItem]],
  ['computeEffective', 'tools', (tools) => computeEffective({ tools }), [revoked, throwingItem]],
  [
    'runHostLoop',
    'input',
    (input) =>
      runHostLoop({
        workflow: createWorkflow({ tools: [] }),
        session,
        generate: () => ({ text: '' }),
        input,
      }),
    [revoked, hole, throwingItem],
  ],
  [
    'createTestSession',
    'profiles',
    (profiles) => createTestSession({ profiles }),
    [() => null as never, () => ({}) as never],
  ],
];

describe.each(factories)('%s refuses `%s`', (factory, option, make, values) => {
  test.each(values.map((value) => [value.name || 'a value of the wrong kind', value] as const))(
    '%s',
    async (_, value) => {
      const message = await messageOf(() => make(value()));
      expect(message).toContain(factory);
      expect(message).toContain(option);
    },
  );
});

test('a scope whose rules are refused leaves its source free', () => {
  const registry = new HostToolRegistry();
  expect(() => registry.scope('plugin', { rules: throwingItem() })).toThrow('scope: reading');
  expect(registry.scope('plugin').source).toBe('plugin');
});

test('definitions are read once: what is checked is what is registered', () => {
  const registry = new HostToolRegistry();
  registry.register(echo);
  const other = mockTool({ name: 'other' });
  let reads = 0;
  const list = Object.defineProperty([other], 0, {
    enumerable: true,
    get: () => (++reads === 1 ? other : mockTool({ name: 'echo' })),
  });
  registry.registerAll(list);
  expect(registry.listNames()).toEqual(['echo', 'other']);
  expect(registry.get('echo')).toBe(echo);
});
