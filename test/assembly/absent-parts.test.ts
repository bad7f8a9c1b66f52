/** What a registry without parts does: it refuses each use of one, and names the import to add. */

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { partOf, partTable } from '../../src/assembly/part-table.ts';
import { RegistryParts } from '../../src/core/registry/define-part.ts';
import { Registry } from '../../src/core/registry/registry.ts';
import {
  defineTool,
  type HostToolRegistry,
  type JsonSchema,
  type MisuseError,
  type Quota,
  type Rule,
  type Schema,
  type ToolSession,
} from '../../src/index.ts';
import { idempotency } from '../../src/parts/idempotency/part.ts';
import { offload } from '../../src/parts/offload/part.ts';
import { quotas } from '../../src/parts/quotas/part.ts';
import { createApprovalsHandler } from '../../src/surfaces/approvals/index.ts';
import { mockTool } from '../../src/surfaces/testing/index.ts';
import { withoutStrictNulls } from '../../src/values/schema/strict-nulls.ts';

const none = new RegistryParts([], partOf);
const bare = () => new Registry({}, none);

function thrownBy(run: () => unknown): MisuseError {
  try {
    run();
  } catch (error) {
    return error as MisuseError;
  }
  throw new Error('Nothing was thrown.');
}

const fields: Readonly<Record<string, object>> = {
  attributes: { attributes: { owner: () => ({ known: true }) } },
  external: { external: true, handler: undefined },
  'outputStrategy: "offload"': { outputStrategy: 'offload' },
  scopes: { scopes: ['a'] },
  credentials: { credentials: { github: {} } },
  revert: { revert: () => null },
  'requiresApproval.approvers': {
    requiresApproval: { title: 'a', approvers: { any: ['ann'] } },
  },
};

/** A tool with a field of the table. */
function toolWith(field: string) {
  return defineTool({
    name: 'a',
    description: 'Does something.',
    parameters: z.object({ owner: z.string() }),
    handler: () => null,
    ...fields[field],
  });
}

/** Every place in which a rule is written. */
function placesOfRule(rule: Rule): (() => unknown)[] {
  return [
    () => new Registry({ rules: [rule] }, none),
    () => bare().addRules([rule]),
    () => bare().scope('plugin', { rules: [rule] }),
    () => bare().defineProfile({ id: 'p', tools: [], rules: [rule] }),
    () => bare().createSession({ sessionId: 's', rules: [rule] }),
  ];
}

/** Every place in which rules and quotas with a test are written. */
function placesOf(name: string): (() => unknown)[] {
  const quota: Quota = { id: 'q', max: 1, per: 'day', by: 'session', when: { a: { [name]: 'x' } } };
  const counted = () => new Registry({}, new RegistryParts([quotas()], partOf));
  const written: readonly Rule[] = [
    { effect: 'deny', when: { a: { not: { [name]: 'x' } } } },
    { effect: 'deny', when: [{ path: ['a'], size: { [name]: 'x' } }] },
    { effect: 'allow', facts: { a: { any: [{ [name]: 'x' }] } } },
    { effect: 'ask', principal: { [name]: 'x' } },
    { effect: 'ask', surface: { [name]: 'x' } },
  ];
  return [
    ...written.flatMap(placesOfRule),
    () => new Registry({ quotas: [quota] }, new RegistryParts([quotas()], partOf)),
    () => counted().createSession({ sessionId: 's', quotas: [quota] }),
    () => counted().defineProfile({ id: 'p', tools: [], quotas: [quota] }),
  ];
}

/** Every place of a schema in a definition, and every place in which definitions are registered. */
function toolsWith(schema: Schema): (() => unknown)[] {
  const given = { name: 'tool', description: 'A tool.', handler: () => ({}) };
  const parameters = z.object({});
  return [
    defineTool({ ...given, parameters: schema }),
    defineTool({ ...given, parameters, outputSchema: schema }),
    defineTool({ ...given, parameters, policy: { knobs: schema } }),
    mockTool({ ...given, parameters: schema }),
  ].flatMap((tool) => [
    () => bare().register(tool),
    () => bare().registerAll([tool]),
    () => bare().registerOrReplace(tool),
    () => bare().scope('plugin').register(tool),
    () => bare().createSession({ sessionId: 's' }).register(tool),
  ]);
}

/** Each way to give a name several tools, or to select one of them. */
function namesWith(use: string): (() => unknown)[] {
  const tool = (version: string) => mockTool({ name: 'git', version, parameters: z.object({}) });
  if (use === 'range')
    return ['git@^2', 'git@*', { name: 'git@1.x', optional: true }].map(
      (one) => () => bare().defineProfile({ id: 'p', tools: [one] }),
    );
  const both = (registry: Pick<Registry, 'register'>) => {
    registry.register(tool('1.0.0'));
    registry.register(tool('2.0.0'));
  };
  return [
    () => both(bare()),
    () => both(bare().scope('plugin')),
    () => bare().registerAll([tool('1.0.0'), tool('2.0.0')]),
  ];
}

/** A schema of each kind that a part runs, and how a message calls it. */
const schemaOf: Readonly<Record<string, readonly [string, JsonSchema]>> = {
  json: ['plain JSON Schema', { type: 'object' }],
};

/** Each use of a part: what is written, and code that writes it. */
const uses = partTable.flatMap(({ part, subpath, ...row }) => {
  const {
    registry = [],
    session = [],
    sessionValues = [],
    profile = [],
    tool = [],
    rule = [],
  } = row;
  const {
    names = [],
    registryMethods = [],
    sessionMethods = [],
    schemas = [],
    tests = [],
    marks = [],
    profileTool = [],
    ruleKeys = [],
    askKeys = [],
  } = row;
  const open = () => bare().createSession({ sessionId: 's' });
  const call = (object: object, path: string) => {
    const at = path.lastIndexOf('.');
    const owner = at === -1 ? object : (object as Record<string, object>)[path.slice(0, at)];
    return (owner as Record<string, () => unknown>)[path.slice(at + 1)]?.();
  };
  const all: readonly (readonly [string, () => unknown])[] = [
    ...registry.map((key) => [key, () => new Registry({ [key]: {} }, none)] as const),
    ...session.map(
      (key) => [key, () => bare().createSession({ sessionId: 's', [key]: {} })] as const,
    ),
    ...sessionValues.map((written) => {
      const [key, value] = written.split(': ') as [string, string];
      const options = { sessionId: 's', principal: 'ann', [key]: JSON.parse(value) as unknown };
      return [written, () => bare().createSession(options)] as const;
    }),
    ...profile.map(
      (key) => [key, () => bare().defineProfile({ id: 'p', tools: [], [key]: {} })] as const,
    ),
    ...profileTool.map((key) => {
      const tools = [{ name: 'a', optional: true, [key]: {} }];
      return [key, () => bare().defineProfile({ id: 'p', tools })] as const;
    }),
    ...[...ruleKeys, ...askKeys].flatMap((key) =>
      placesOfRule({ effect: 'ask', [key]: 'x' }).map((run) => [key, run] as const),
    ),
    ...rule.flatMap((key) =>
      placesOfRule({ effect: 'ask', [key]: true }).map((run) => [key, run] as const),
    ),
    ...tool.flatMap((field) => [
      [field, () => bare().register(toolWith(field))] as const,
      [field, () => open().register(toolWith(field))] as const,
    ]),
    ...names.flatMap((use) => namesWith(use).map((run) => [use, run] as const)),
    ...registryMethods.map((name) => [`${name}()`, () => call(bare(), name)] as const),
    ...sessionMethods.map((name) => [`${name}()`, () => call(open(), name)] as const),
    ...tests.flatMap((name) => placesOf(name).map((run) => [name, run] as const)),
    ...schemas.flatMap((kind) => {
      const [what, schema] = schemaOf[kind] as readonly [string, JsonSchema];
      return toolsWith(schema).map((run) => [what, run] as const);
    }),
    ...marks
      .flatMap((mark) => [mark, `x-${mark}`])
      .flatMap((mark) =>
        toolsWith(z.object({ a: z.string().meta({ [mark]: true }) })).map(
          (run) => [`${mark}: true`, run] as const,
        ),
      ),
  ];
  return all
    .map(([what, run]) => ({ part, subpath, what, run }))
    .filter(({ what }) => what !== 'store' || part === partOf('registry', 'store')?.part);
});

// Several parts have the option `store`, and one of them is named.
test.each(uses)('$part: $what', ({ part, subpath, what, run }) => {
  const { code, part: named, message } = thrownBy(run);
  expect([code, named]).toEqual(['missing_part', part]);
  expect(message).toContain(what);
  expect(message).toContain(`import { ${part} } from 'host-tools/${subpath}'`);
});

test('strictNulls: true of a surface ends a call that needs an absent part', async () => {
  const registry = bare();
  registry.register(
    defineTool({
      name: 'list',
      description: 'Lists.',
      parameters: z.object({ page: z.number().optional() }),
      handler: ({ page }) => page ?? 'none',
    }),
  );
  const session = registry.createSession({ sessionId: 's' });
  const strict = { name: 'x', strictNulls: true };
  const { error } = await session.call('list', { page: null }, { surface: strict });
  expect([error?.code, error?.reason]).toEqual(['invalid_input', 'invalid_option']);
  expect(error?.message).toContain("import { jsonSchemas } from 'host-tools/json-schema'");
  const own = { name: 'x', strictNulls: withoutStrictNulls };
  const { output, metadata } = await session.call('list', { page: null }, { surface: own });
  expect([output, metadata.repaired]).toEqual(['none', [{ path: 'page', rule: 'strict_null' }]]);
});

test('an option of an absent part that is undefined is not used', () => {
  for (const { registry = [], session = [] } of partTable) {
    const undefinedOf = (names: readonly string[]) =>
      Object.fromEntries(names.map((name) => [name, undefined]));
    const made = new Registry({ ...undefinedOf(registry), rules: [] }, none);
    const open = made.createSession({ ...undefinedOf(session), sessionId: 's' });
    expect(open.sessionId).toBe('s');
  }
  let reads = 0;
  const get = () => (reads++ === 0 ? undefined : []);
  const getter = Object.defineProperty({}, 'quotas', { get, enumerable: true });
  expect(new Registry(getter, none).count).toBe(0);
  expect(reads).toBe(1);
});

const pay = () => {
  let runs = 0;
  const tool = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({}),
    handler: (_input, { idempotencyKey }) => `${++runs}:${idempotencyKey}`,
  });
  return { tool, runs: () => runs };
};

test('offloading needs no other part: its own tool brings what checks its arguments', async () => {
  const registry = new Registry({ offload: {} } as object, new RegistryParts([offload()], partOf));
  registry.register(
    defineTool({
      name: 'list',
      description: 'Lists.',
      parameters: z.object({}),
      outputStrategy: 'offload',
      maxOutputChars: 400,
      handler: () => 'x'.repeat(1_000),
    }),
  );
  const session = registry.createSession({ sessionId: 's' });
  const { metadata } = await session.call('list');
  const read = (handle: unknown) => session.call('read_tool_output', { handle });
  expect(await read(metadata.truncated?.handle)).toMatchObject({ success: true });
  expect(await read(1)).toMatchObject({
    error: { code: 'invalid_input', details: [{ path: 'handle' }] },
  });
});

describe('idempotency', () => {
  test('a key is passed on to the handler by a registry that keeps no outcomes', async () => {
    const registry = bare();
    const { tool, runs } = pay();
    registry.register(tool);
    const session = registry.createSession({ sessionId: 's' });
    for (let round = 0; round < 2; round++) await session.call('pay', {}, { idempotencyKey: 'k' });
    expect(await session.call('pay', {}, { idempotencyKey: 'k' })).toMatchObject({
      output: '3:k',
    });
    expect(runs()).toBe(3);
  });

  test.each([
    ['idempotency first', () => [idempotency(), quotas()]],
    ['quotas first', () => [quotas(), idempotency()]],
  ])(
    'a repeated call spends no quota, in whatever order the parts are given: %s',
    async (...row) => {
      const registry = new Registry(
        { idempotency: {}, quotas: [{ id: 'one', max: 1, per: 'day', by: 'session' }] } as object,
        new RegistryParts(row[1](), partOf),
      );
      const { tool, runs } = pay();
      registry.register(tool);
      const session = registry.createSession({ sessionId: 's' });
      const call = () => session.call('pay', {}, { idempotencyKey: 'k' });
      expect((await call()).success).toBe(true);
      expect(await call()).toMatchObject({ success: true, metadata: { replayed: true } });
      expect(runs()).toBe(1);
    },
  );
});

describe('approvals', () => {
  const open = (options: object = {}): ToolSession => {
    const registry = new Registry({ default: 'ask' }, none);
    registry.register(pay().tool);
    return registry.createSession({ sessionId: 's', principal: 'ann', ...options });
  };

  test('an approver answers, also where `approvalMode` says what is the default', async () => {
    const session = open({ approver: () => 'allow_once', approvalMode: 'ask' });
    expect((await session.call('pay', {})).success).toBe(true);
  });

  test('an inbox over the registry is refused', () => {
    const options = { authenticate: () => 'ann' };
    expect(() => createApprovalsHandler(bare() as HostToolRegistry, options)).toThrow(
      'createApprovalsHandler needs the part `durableApprovals`.',
    );
  });

  test('the host answers, and grants are listed, used and revoked', async () => {
    const session = open({ approver: () => new Promise(() => {}) });
    const { answer, grants, revoke } = session.approvals;
    session.events.on('approval:required', ({ request }) => {
      expect(answer(request.id as string, 'allow_always')).toBe(true);
    });
    for (let round = 0; round < 2; round++)
      expect((await session.call('pay', {})).success).toBe(true);
    expect(grants()).toMatchObject([{ tool: 'pay', effect: 'allow' }]);
    expect(revoke(grants()[0]?.id ?? '')).toBe(true);
    expect(grants()).toEqual([]);
  });
});
