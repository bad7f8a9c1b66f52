/**
 * Registrations and updates: the tools before and after them, and the answers.
 */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type {
  RelayedDefinition,
  ToolsDocument,
} from '../../../../src/surfaces/relay/ports/documents.ts';
import { isRelayError } from '../../../../src/surfaces/relay/relay-error.ts';
import {
  type RegistrationOptions,
  registerTools,
  updateTools,
} from '../../../../src/surfaces/relay/tools/registration.ts';
import {
  type Registration,
  readRegistration,
  readUpdate,
  type ToolsUpdate,
} from '../../../../src/surfaces/relay/tools/registration-body.ts';
import { cpuMs } from '../../../runner/cpu-time.ts';

const tool = (name: string, version = 1, more: object = {}): RelayedDefinition => ({
  name,
  description: `Does ${name}, version ${version}.`,
  parameters: { type: 'object' },
  ...more,
});
const bad = (name: string): object => ({ name, description: 'x', parameters: { type: 'string' } });
const registration = (
  availableTools: readonly unknown[],
  more: Partial<Registration> = {},
): Registration => ({
  pluginType: 'codap',
  pluginVersion: '1.2',
  capabilities: [],
  environment: {},
  availableTools,
  ...more,
});
const options = (more: Partial<RegistrationOptions> = {}): RegistrationOptions => ({
  at: 1_000,
  taken: () => undefined,
  maxTools: 1_000,
  pinDefinitions: false,
  ...more,
});
const pinned = options({ pinDefinitions: true });
const registered = async (
  names: readonly string[],
  more: Partial<RegistrationOptions> = {},
): Promise<ToolsDocument> =>
  (await registerTools(undefined, registration(names.map((name) => tool(name))), options(more)))
    .document;
const update = (more: Partial<ToolsUpdate>): ToolsUpdate => ({
  added: [],
  removed: [],
  modified: [],
  reason: 'update',
  ...more,
});
const namesOf = ({ definitions }: ToolsDocument): string[] => definitions.map(({ name }) => name);
const fault = async (work: () => unknown): Promise<unknown> => {
  try {
    return await work();
  } catch (error) {
    if (!isRelayError(error)) throw error;
    return [error.status, error.error, error.message];
  }
};

describe('the body of a registration', () => {
  const body = (more: object = {}): object => ({
    pluginType: 'codap',
    availableTools: [1],
    ...more,
  });

  test('is read with its defaults', async () => {
    expect(readRegistration(body())).toEqual({
      pluginType: 'codap',
      pluginVersion: '0',
      capabilities: [],
      environment: {},
      constraints: {},
      availableTools: [1],
    });
  });

  test('is read without invisible characters and unknown members', async () => {
    const given = {
      pluginType: 'my\u202e  app',
      pluginVersion: '3.1',
      capabilities: [{ type: 'storage', permissions: ['a\u200b'] }, 'b'],
      environment: { features: ['x\u0000'], contextInfo: { dataContexts: 1 } },
      sessionCode: 'ZZZZ2222',
      constraints: { maxCalls: 3, note: 'a\u200b' },
    };
    expect(readRegistration(body(given))).toEqual({
      pluginType: 'my app',
      pluginVersion: '3.1',
      capabilities: [{ type: 'storage', permissions: ['a'] }, 'b'],
      environment: { features: ['x'], contextInfo: { dataContexts: 1 } },
      constraints: { maxCalls: 3, note: 'a' },
      availableTools: [1],
    });
  });

  test('may use the older name of `availableTools`', async () => {
    expect(readRegistration({ pluginType: 'x', tools: [1] }).availableTools).toEqual([1]);
  });

  test.each<[string, unknown, RegExp]>([
    ['no object', 'x', /body to be a JSON object/],
    ['an array', [], /body to be a JSON object/],
    ['no type', { availableTools: [1] }, /`pluginType`/],
    ['a blank type', body({ pluginType: ' \u200b' }), /`pluginType`/],
    ['a long type', body({ pluginType: 'x'.repeat(65) }), /`pluginType`.*64/],
    ['a version that is a number', body({ pluginVersion: 1 }), /`pluginVersion`/],
    ['a long version', body({ pluginVersion: 'x'.repeat(65) }), /`pluginVersion`/],
    ['no tools', { pluginType: 'x' }, /`availableTools` to be an array/],
    [
      'tools that are no list',
      body({ availableTools: { a: 1 } }),
      /`availableTools` to be an array/,
    ],
    ['capabilities that are no list', body({ capabilities: {} }), /`capabilities`/],
    [
      '101 capabilities',
      body({ capabilities: Array.from({ length: 101 }, () => 'x') }),
      /`capabilities`.*at most 100/,
    ],
    ['capabilities of numbers', body({ capabilities: [1] }), /`capabilities\[0\]`/],
    ['large capabilities', body({ capabilities: ['x'.repeat(65_536)] }), /`capabilities`.*65536/],
    ['an environment that is a list', body({ environment: [] }), /`environment`/],
    [
      'a large environment',
      body({ environment: { a: 'é'.repeat(32_768) } }),
      /`environment`.*65536/,
    ],
    [
      'a deep environment',
      body({ environment: { a: JSON.parse('['.repeat(40) + ']'.repeat(40)) } }),
      /nested at most 32/,
    ],
  ])('is refused: %s', async (_, given, says) => {
    expect(await fault(() => readRegistration(given))).toEqual([
      400,
      'validation_error',
      expect.stringMatching(says),
    ]);
  });

  test('with an empty list registers nothing', async () => {
    expect(await fault(() => readRegistration(body({ availableTools: [] })))).toEqual([
      422,
      'registration_failed',
      expect.any(String),
    ]);
  });
});

describe('the body of an update', () => {
  test('is read with its defaults; `removed` may have objects with a name', async () => {
    expect(readUpdate({ removed: ['a', { name: 'b' }], added: null })).toEqual({
      added: [],
      removed: ['a', 'b'],
      modified: [],
      reason: 'update',
    });
    expect(readUpdate({ added: [1], modified: [2], reason: `new\n${'x'.repeat(300)}` })).toEqual({
      added: [1],
      removed: [],
      modified: [2],
      reason: `new ${'x'.repeat(193)}…`,
    });
  });

  test.each<[string, unknown, RegExp]>([
    ['no object', null, /body to be a JSON object/],
    ['nothing', {}, /at least one tool/],
    ['empty lists', { added: [], removed: [] }, /at least one tool/],
    ['a list that is none', { added: { name: 'a' } }, /`added` to be left out or an array/],
    ['names that are none', { removed: [1] }, /`removed` to be an array of tool names/],
    ['a reason that is none', { removed: ['a'], reason: 7 }, /`reason`/],
  ])('is refused: %s', async (_, given, says) => {
    expect(await fault(() => readUpdate(given))).toEqual([
      400,
      'validation_error',
      expect.stringMatching(says),
    ]);
  });
});

describe('a registration', () => {
  test('makes the first document, and all its tools are new', async () => {
    const environment = { version: '1' };
    const capabilities = [{ type: 'storage' }];
    expect(
      await registerTools(
        undefined,
        registration([tool('a'), bad('b'), tool('c')], { environment, capabilities }),
        options(),
      ),
    ).toEqual({
      document: {
        revision: 1,
        pluginType: 'codap',
        pluginVersion: '1.2',
        capabilities,
        environment,
        definitions: [tool('a'), tool('c')],
        registeredAt: 1_000,
        updatedAt: 1_000,
      },
      change: { added: ['a', 'c'], removed: [], modified: [] },
      response: {
        success: true,
        registeredTools: ['a', 'c'],
        failedTools: [
          { toolName: 'b', error: expect.stringContaining('type "object"'), recoverable: true },
        ],
        sessionConfiguration: { toolCount: 2, capabilities, environment, constraints: {} },
      },
    });
  });

  test('says what it does not check, also after an update', async () => {
    const patterned = (name: string): object => ({
      ...tool(name),
      parameters: { type: 'object', properties: { a: { pattern: '(.)\\1' } } },
    });
    const { document, response } = await registerTools(
      undefined,
      registration([tool('a'), patterned('b')]),
      options(),
    );
    const warning = (toolName: string): object => ({
      toolName,
      path: '/parameters/properties/a/pattern',
      message: expect.stringMatching(/^Not checked here: /),
    });
    expect(response).toMatchObject({ registeredTools: ['a', 'b'], warnings: [warning('b')] });
    const updated = await updateTools(
      document,
      update({ added: [tool('c'), patterned('d')] }),
      options(),
    );
    expect(updated.response).toMatchObject({ added: ['c', 'd'], warnings: [warning('d')] });
  });

  test('that follows another replaces its tools, and reports the exact difference', async () => {
    const before = await registered(['a', 'b', 'c']);
    const { document, change } = await registerTools(
      before,
      registration([tool('d'), tool('b', 2), tool('a')]),
      options({ at: 2_000 }),
    );
    expect(change).toEqual({ added: ['d'], removed: ['c'], modified: ['b'] });
    expect(document).toMatchObject({
      revision: 2,
      registeredAt: 2_000,
      updatedAt: 2_000,
      definitions: [tool('d'), tool('b', 2), tool('a')],
    });
  });

  test('with the same content changes nothing, even with its members in another order', async () => {
    const before = await registered(['a', 'b']);
    const { name, description, parameters } = tool('a');
    const again = await registerTools(
      before,
      registration([{ parameters, description, name }, tool('b')]),
      options({ at: 2_000 }),
    );
    expect(again.document).toBe(before);
    expect(again.change).toEqual({ added: [], removed: [], modified: [] });
    expect(again.response.registeredTools).toEqual(['a', 'b']);
  });

  test.each<[string, Registration]>([
    ['the order', registration([tool('b'), tool('a')])],
    ['the version', registration([tool('a'), tool('b')], { pluginVersion: '2' })],
    ['the environment', registration([tool('a'), tool('b')], { environment: { x: 1 } })],
  ])('that changes %s makes a revision without a change of tools', async (_, next) => {
    const { document, change } = await registerTools(await registered(['a', 'b']), next, options());
    expect(document.revision).toBe(2);
    expect(change).toEqual({ added: [], removed: [], modified: [] });
  });

  test('without a valid tool is refused, with the reasons', async () => {
    try {
      await registerTools(
        await registered(['a']),
        registration([bad('x'), tool('host')]),
        options({ taken: (name) => (name === 'host' ? 'host' : undefined) }),
      );
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({
        status: 422,
        error: 'registration_failed',
        details: {
          failedTools: [
            { toolName: 'x', recoverable: true },
            { toolName: 'host', recoverable: false },
          ],
        },
      });
    }
  });

  test('with more tools than a session may have is refused before any is read', async () => {
    const many = Array.from({ length: 1_001 }, () => 0);
    expect(await fault(() => registerTools(undefined, registration(many), options()))).toEqual([
      413,
      'too_many_tools',
      'Expected at most 1000 tools in `availableTools`, got 1001.',
    ]);
  });

  test('of a thousand tools takes well under a second, even twice', async () => {
    const raw = (version: number): unknown[] =>
      Array.from({ length: 1_000 }, (_, index) => tool(`tool_${index}`, version));
    const start = cpuMs();
    const { document } = await registerTools(undefined, registration(raw(1)), pinned);
    const { change } = await registerTools(document, registration(raw(2)), options());
    expect(change.modified).toHaveLength(1_000);
    expect(cpuMs() - start).toBeLessThan(10_000);
  });
});

describe('if definitions are pinned', () => {
  let before: ToolsDocument;
  beforeAll(async () => {
    before = (await registerTools(undefined, registration([tool('a'), tool('b')]), pinned))
      .document;
  });

  test(
    'another definition of a name is refused permanently, and the registered one stays in its ' +
      'place',
    async () => {
      const { document, change, response } = await registerTools(
        before,
        registration([tool('c'), tool('a', 2)]),
        pinned,
      );
      expect(response).toMatchObject({
        registeredTools: ['c'],
        failedTools: [
          { toolName: 'a', error: expect.stringMatching(/^definition_pinned/), recoverable: false },
        ],
        sessionConfiguration: { toolCount: 2 },
      });
      expect(document.definitions).toEqual([tool('c'), tool('a')]);
      expect(change).toEqual({ added: ['c'], removed: ['b'], modified: [] });
    },
  );

  test('a name is remembered after its tool is gone', async () => {
    const { document: gone } = await updateTools(before, update({ removed: ['a'] }), pinned);
    const { document, response } = await updateTools(
      gone,
      update({ added: [tool('a', 2)] }),
      pinned,
    );
    expect(response).toMatchObject({
      success: false,
      added: [],
      failedTools: [{ toolName: 'a', recoverable: false }],
    });
    expect(namesOf(document)).toEqual(['b']);
    expect(
      (await updateTools(gone, update({ added: [tool('a')] }), pinned)).response,
    ).toMatchObject({ success: true, added: ['a'] });
  });

  test('a registration of only changed definitions is refused', async () => {
    expect(await fault(() => registerTools(before, registration([tool('a', 2)]), pinned))).toEqual([
      422,
      'registration_failed',
      expect.any(String),
    ]);
  });

  test('the name of a tool beyond the limit is not pinned', async () => {
    const tight = options({ pinDefinitions: true, maxTools: 2 });
    const { document, response } = await updateTools(before, update({ added: [tool('c')] }), tight);
    expect(response.failedTools).toMatchObject([{ toolName: 'c', recoverable: true }]);
    expect(document).toBe(before);
  });

  test('names such as `constructor` are ordinary', async () => {
    const { document } = await registerTools(
      undefined,
      registration([tool('constructor')]),
      pinned,
    );
    expect(
      (await updateTools(document, update({ modified: [tool('constructor', 2)] }), pinned)).response
        .failedTools,
    ).toHaveLength(1);
  });
});

describe('an update', () => {
  test('before a registration is a conflict', async () => {
    expect(
      await fault(() => updateTools(undefined, update({ removed: ['a'] }), options())),
    ).toEqual([409, 'no_tools_registered', expect.any(String)]);
  });

  test('adds, removes and modifies, and says which', async () => {
    const before = await registered(['a', 'b', 'c']);
    const { document, change, response } = await updateTools(
      before,
      update({ added: [tool('d')], removed: ['a', 'x'], modified: [tool('b', 2), tool('y')] }),
      options({ at: 2_000 }),
    );
    expect(document.definitions).toEqual([tool('b', 2), tool('c'), tool('d')]);
    expect(document).toMatchObject({ revision: 2, registeredAt: 1_000, updatedAt: 2_000 });
    expect(change).toEqual({ added: ['d'], removed: ['a'], modified: ['b'] });
    expect(response).toEqual({ success: true, ...change, notFound: ['x', 'y'], failedTools: [] });
  });

  test.each<[string, Partial<ToolsUpdate>, object]>([
    [
      'added under a name that there is modifies it',
      { added: [tool('a', 2)] },
      { modified: ['a'] },
    ],
    ['added as it stands changes nothing', { added: [tool('a')] }, {}],
    ['modified into what it is changes nothing', { modified: [tool('a')] }, {}],
    [
      'removed and added again is modified',
      { removed: ['a'], added: [tool('a', 2)] },
      { modified: ['a'] },
    ],
    [
      'removed and added as it was changes nothing but its place',
      { removed: ['b'], added: [tool('b')] },
      {},
    ],
    ['removed twice is removed once', { removed: ['a', 'a'] }, { removed: ['a'] }],
    [
      'may bring a twin of what it removes',
      { removed: ['a'], added: [tool('A')] },
      { removed: ['a'], added: ['A'] },
    ],
  ])('%s', async (_, given, changed) => {
    const { change, response } = await updateTools(
      await registered(['a', 'b']),
      update(given),
      options(),
    );
    const expected = { added: [], removed: [], modified: [], ...changed };
    expect(change).toEqual(expected);
    expect(response).toEqual({ success: true, ...expected, notFound: [], failedTools: [] });
  });

  test('that changes nothing makes no revision', async () => {
    const before = await registered(['a']);
    expect(
      (
        await updateTools(
          before,
          update({ added: [tool('a')], removed: ['x'] }),
          options({ at: 9 }),
        )
      ).document,
    ).toBe(before);
  });

  test('that fails keeps the old definition', async () => {
    const before = await registered(['a']);
    const { document, response } = await updateTools(
      before,
      update({ modified: [bad('a')], added: [tool('A')] }),
      options(),
    );
    expect(document).toBe(before);
    expect(response).toMatchObject({
      success: false,
      modified: [],
      failedTools: [{ toolName: 'a' }, { toolName: 'A' }],
    });
  });

  test('whose names are all unknown is not a success', async () => {
    expect(
      (
        await updateTools(
          await registered(['a']),
          update({ removed: ['x'], modified: [tool('y'), tool('y')] }),
          options(),
        )
      ).response,
    ).toEqual({
      success: false,
      added: [],
      removed: [],
      modified: [],
      notFound: ['x', 'y'],
      failedTools: [],
    });
  });

  test('may remove the last tool', async () => {
    const { document } = await updateTools(
      await registered(['a']),
      update({ removed: ['a'] }),
      options(),
    );
    expect(document).toMatchObject({ revision: 2, definitions: [] });
  });

  test('adds tools up to the limit, and fails the others', async () => {
    const { document, response } = await updateTools(
      await registered(['a', 'b']),
      update({ added: [tool('c'), tool('d'), tool('b', 2)] }),
      options({ maxTools: 3 }),
    );
    expect(namesOf(document)).toEqual(['a', 'b', 'c']);
    expect(response).toMatchObject({
      added: ['c'],
      modified: ['b'],
      failedTools: [{ toolName: 'd', recoverable: true }],
    });
  });

  test('with more tools than a session may have is refused as a whole', async () => {
    const too = [413, 'too_many_tools', expect.any(String)];
    const before = await registered(['a']);
    expect(
      await fault(() =>
        updateTools(
          before,
          update({ added: [tool('b'), tool('c')], modified: [tool('a')] }),
          options({ maxTools: 2 }),
        ),
      ),
    ).toEqual(too);
    expect(
      await fault(() =>
        updateTools(before, update({ removed: ['a', 'b', 'c'] }), options({ maxTools: 2 })),
      ),
    ).toEqual(too);
  });

  test('cannot make the document grow without limit', async () => {
    let document = await registered(['a']);
    let refused = 0;
    for (let round = 0; round < 90; round++) {
      const large = tool(`t${round}`, 1, {
        parameters: { type: 'object', description: 'x'.repeat(60_000) },
      });
      const next = await updateTools(document, update({ added: [large] }), options());
      document = next.document;
      refused += next.response.failedTools.length;
    }
    expect(JSON.stringify(document).length).toBeLessThan(4.3 * 1_048_576);
    expect(refused).toBeGreaterThan(10);
  });
});

describe('any sequence of registrations and updates', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd', 'A', 'constructor');
  const given = fc.oneof(
    fc.tuple(name, fc.integer({ min: 1, max: 3 })).map(([one, version]) => tool(one, version)),
    name.map(bad),
  );
  const list = fc.array(given, { maxLength: 4 });
  const step = fc.oneof(
    fc.record({ register: fc.array(given, { minLength: 1, maxLength: 5 }) }),
    fc.record({ added: list, removed: fc.array(name, { maxLength: 3 }), modified: list }),
  );
  test.each([false, true])(
    'reports the exact difference, and raises the revision with it (pinned: %s)',
    async (pinDefinitions) => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
          let before: ToolsDocument | undefined;
          const versions = new Map<string, string>();
          for (const one of steps) {
            const opts = options({ pinDefinitions, maxTools: 5 });
            let outcome: {
              document: ToolsDocument;
              change: {
                added: readonly string[];
                removed: readonly string[];
                modified: readonly string[];
              };
            };
            try {
              outcome =
                'register' in one
                  ? await registerTools(before, registration(one.register), opts)
                  : await updateTools(before, update(one), opts);
            } catch (error) {
              if (!isRelayError(error)) throw error;
              continue;
            }
            const { document, change } = outcome;
            const old = new Map(before?.definitions.map((item) => [item.name, item.description]));
            const now = new Map(document.definitions.map((item) => [item.name, item.description]));
            expect(new Set(change.added)).toEqual(
              new Set([...now.keys()].filter((key) => !old.has(key))),
            );
            expect(new Set(change.removed)).toEqual(
              new Set([...old.keys()].filter((key) => !now.has(key))),
            );
            expect(new Set(change.modified)).toEqual(
              new Set(
                [...now.keys()].filter((key) => old.has(key) && old.get(key) !== now.get(key)),
              ),
            );
            expect(document.revision).toBe((before?.revision ?? 0) + (document === before ? 0 : 1));
            expect(now.size).toBe(document.definitions.length);
            expect(now.size).toBeLessThanOrEqual(5);
            // Two names that look alike are never registered together.
            expect(new Set([...now.keys()].map((key) => key.toLowerCase())).size).toBe(now.size);
            if (pinDefinitions)
              for (const [key, description] of now) {
                expect(versions.get(key) ?? description).toBe(description);
                versions.set(key, description);
              }
            before = document;
          }
        }),
      );
    },
  );
});
