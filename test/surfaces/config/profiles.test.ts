import { describe, expect, test } from 'vitest';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';
import { loadHostTools, loadProfiles } from '../../../src/surfaces/config/index.ts';
import { folder } from './folder.ts';

const git = defineTool({
  name: 'git',
  description: 'Runs git.',
  parameters: { type: 'object' },
  policy: {
    knobs: {
      type: 'object',
      properties: {
        allowedActions: { type: 'array', items: { type: 'string' }, default: [] },
        maxFiles: { type: 'integer', default: 1 },
        push: { type: 'boolean', default: false },
      },
      additionalProperties: false,
    },
  },
  handler: (_, { knobs }) => knobs as never,
});
const read = defineTool({
  name: 'read_file',
  description: 'Reads.',
  parameters: { type: 'object' },
  handler: () => 'read',
});

function world(content: string) {
  const registry = new HostToolRegistry();
  registry.registerAll([git, read]);
  const { at, write } = folder({ 'profiles.yaml': content });
  return {
    registry,
    path: at('profiles.yaml'),
    load: () => loadProfiles(at('profiles.yaml'), registry),
    write: (text: string) => write({ 'profiles.yaml': text }),
    session: (profile: string) =>
      registry.createSession({ sessionId: 's', services: undefined, profile }),
  };
}

describe('a profile binds broad tools to a narrow policy', () => {
  test('`tools` as a map gives the knobs of each', async () => {
    const { load, session } = world(`
profiles:
  reviewer:
    tools:
      git: { allowedActions: [log, show] }
      read_file:
`);
    expect(await load()).toMatchObject({ loaded: ['reviewer'], failed: [] });
    const reviewer = session('reviewer');
    expect(reviewer.effectiveTools().names).toEqual(['git', 'read_file']);
    expect((await reviewer.call('git', {})).output).toEqual({
      allowedActions: ['log', 'show'],
      maxFiles: 1,
      push: false,
    });
  });

  test('a list of `tools` has names, or objects with all settings of a tool', async () => {
    const { load, session, registry } = world(`
profiles:
  fixer:
    default: ask
    tools:
      - read_file
      - { name: git, knobs: { push: true }, requiresApproval: true, timeoutMs: 50, maxOutputChars: 10 }
      - { name: absent, optional: true }
    rules:
      - { effect: deny, tools: git, when: { action: push }, reason: no_push }
    limits: { callsPerMinute: 9, loopGuard: false }
`);
    expect((await load()).failed).toEqual([]);
    expect(registry.profile('fixer')).toMatchObject({
      default: 'ask',
      limits: { callsPerMinute: 9 },
    });
    expect((await session('fixer').call('git', { action: 'push' })).error?.reason).toBe('no_push');
    expect((await session('fixer').call('git', {})).error?.code).toBe('approval_denied');
  });

  test('a map of tools has knobs only, or with `knobs` the keys of the list', async () => {
    const { load, session, registry } = world(`
profiles:
  short: { tools: { git: { push: true }, read_file: } }
  long: { tools: { git: { knobs: { push: true } }, read_file: { knobs: {} } } }
  list: { tools: [{ name: git, knobs: { push: true } }, read_file] }
  full:
    tools:
      git: { knobs: {}, requiresApproval: true, timeoutMs: 50, maxOutputChars: 10 }
      absent: { knobs: {}, optional: true }
`);
    expect((await load()).failed).toEqual([]);
    for (const id of ['short', 'long', 'list'])
      expect((await session(id).call('git', {})).output).toMatchObject({ push: true });
    expect(registry.profile('full')?.tools).toEqual([
      { name: 'git', knobs: {}, requiresApproval: true, timeoutMs: 50, maxOutputChars: 10 },
      { name: 'absent', knobs: {}, optional: true },
    ]);
    expect((await session('full').call('git', {})).error?.code).toBe('approval_denied');
  });

  test('a knob may have the name of a key of a profile, inside `knobs`', async () => {
    const { load, session, registry } = world(`
profiles:
  p: { tools: { shell: { knobs: { timeoutMs: 5, knobs: 6 } } } }
`);
    registry.register(
      defineTool({
        name: 'shell',
        description: 'Shows its knobs.',
        parameters: { type: 'object' },
        policy: { knobs: { type: 'object' } },
        handler: (_, { knobs }) => knobs as never,
      }),
    );
    expect((await load()).failed).toEqual([]);
    expect((await session('p').call('shell', {})).output).toEqual({ timeoutMs: 5, knobs: 6 });
  });

  test(
    'a child’s knobs merge key by key over its parent’s; its rules add up; the parent may stand ' +
      'behind it',
    async () => {
      const { load, session } = world(`
profiles:
  release:
    extends: [fixer]
    tools: { git: { push: true } }
  fixer:
    extends: reviewer
    tools: { git: { maxFiles: 5 } }
    rules: [{ effect: deny, tools: read_file }]
  reviewer:
    tools: { git: { allowedActions: [log], maxFiles: 2 }, read_file: {} }
  same:
    extends: release
`);
      expect((await load()).loaded).toEqual(['reviewer', 'fixer', 'release', 'same']);
      expect((await session('release').call('git', {})).output).toEqual({
        allowedActions: ['log'],
        maxFiles: 5,
        push: true,
      });
      expect((await session('same').call('git', {})).output).toEqual({
        allowedActions: ['log'],
        maxFiles: 5,
        push: true,
      });
      expect((await session('reviewer').call('git', {})).output).toEqual({
        allowedActions: ['log'],
        maxFiles: 2,
        push: false,
      });
      expect((await session('release').call('read_file', {})).error?.code).toBe('policy_denied');
      expect((await session('reviewer').call('read_file', {})).success).toBe(true);
    },
  );

  test('`tools: []` shows and runs nothing', async () => {
    const { load, session } = world('profiles: { none: { tools: [] } }');
    await load();
    expect(session('none').tools()).toEqual([]);
  });

  test('it may extend a profile that the host defined', async () => {
    const { registry, load, session } = world(
      'profiles: { child: { extends: base, tools: { git: { push: true } } } }',
    );
    registry.defineProfile({ id: 'base', tools: [{ name: 'git', knobs: { maxFiles: 7 } }] });
    expect((await load()).failed).toEqual([]);
    expect((await session('child').call('git', {})).output).toMatchObject({
      maxFiles: 7,
      push: true,
    });
  });
});

describe('a broken profile is reported and never half-loads; the others load', () => {
  test.each([
    ['an unknown tool', '{ tools: [gti] }', /got `gti`\. Did you mean `git`\?/],
    ['an unknown knob', '{ tools: { git: { allowedAction: [] } } }', /knobs/],
    ['a knob that does not fit', '{ tools: { git: { maxFiles: many } } }', /maxFiles/],
    ['knobs for a tool that has none', '{ tools: { read_file: { a: 1 } } }', /declares none/],
    [
      'knobs that are no map',
      '{ tools: { git: [log] } }',
      /expected an object, got an array of 1|`tools.*git/,
    ],
    [
      'an unknown parent',
      '{ extends: fien, tools: [] }',
      /there is no profile `fien`, did you mean `fine`\?/,
    ],
    ['itself', '{ extends: bad, tools: [] }', /leads back to itself: bad → bad/],
    ['no tools and no parent', '{ limits: {} }', /expected `tools`/],
    ['nothing', '', /expected an object, got null/],
    ['an unknown key', '{ tools: [], rule: [] }', /unknown key `rule`; did you mean `rules`\?/],
    ['an id of its own', '{ id: x, tools: [] }', /unknown key `id`/],
    [
      'an unknown key of a tool',
      '{ tools: [{ name: git, knob: {} }] }',
      /`tools\[0\]`: unknown key `knob`; did you mean `knobs`\?/,
    ],
    [
      'a knob beside the keys of a tool in a list',
      '{ tools: [{ name: git, push: true }] }',
      /`tools\[0\]`: unknown key `push`.*; a tool's own settings go into `knobs`/,
    ],
    [
      'a knob beside `knobs`',
      '{ tools: { git: { knobs: {}, push: true } } }',
      /^`tools\.git`: unknown key `push`.*; a tool's own settings go into `knobs`$/,
    ],
    [
      'a name in a map',
      '{ tools: { git: { name: other, knobs: {} } } }',
      /`tools\.git`: unknown key `name`/,
    ],
    [
      '`knobs` that are no map',
      '{ tools: { git: { knobs: 5 } } }',
      /^`tools\.git\.knobs`: expected an object, got `5`/,
    ],
    [
      'a wrong key beside `knobs`',
      '{ tools: { git: { knobs: {}, timeoutMs: 0 } } }',
      /^`tools\.git\.timeoutMs`: expected a number above 0, got `0`/,
    ],
    [
      'a key that could be the profile’s or the tool’s',
      '{ tools: { git: { requiresApproval: true } } }',
      /^`tools\.git`: `requiresApproval` could be a setting of the profile or one of the tool's knobs; write \{ requiresApproval: …, knobs: \{ … \} \} for the profile's, and \{ knobs: \{ requiresApproval: … \} \} for the tool's$/,
    ],
    [
      'such a key among knobs',
      '{ tools: { git: { push: true, maxOutputChars: 5 } } }',
      /`maxOutputChars` could be/,
    ],
    [
      'an approval that would be lifted',
      '{ tools: [{ name: git, requiresApproval: false }] }',
      /requiresApproval/,
    ],
    [
      'an unknown limit',
      '{ tools: [], limits: { callsPerMinutes: 1 } }',
      /`limits`: unknown key `callsPerMinutes`; did you mean `callsPerMinute`\?/,
    ],
    [
      'a limit out of range',
      '{ tools: [], limits: { callsPerMinute: 0 } }',
      /`limits\.callsPerMinute`/,
    ],
    ['a broken rule', '{ tools: [], rules: [{ effect: deny, tools: [] }] }', /`rules\[0\]\.tools`/],
    [
      'a rule that would backtrack',
      '{ tools: [], rules: [{ effect: deny, when: { a: { matches: "(?=x)" } } }] }',
      /linear time/,
    ],
    ['an unknown default', '{ tools: [], default: maybe }', /`default`/],
    ['a tool named twice', '{ tools: [git, git] }', /once/],
  ])('%s', async (_, bad, reason) => {
    const { load, registry, path } = world(
      `profiles:\n  fine: { tools: [git] }\n  bad: ${bad}\n  heir: { extends: bad, tools: [] }\n`,
    );
    const report = await load();
    expect(report.loaded).toEqual(['fine']);
    expect(report.failed).toMatchObject([
      {
        section: 'profiles',
        index: 1,
        name: 'bad',
        line: 3,
        file: path,
        reason: expect.stringMatching(reason),
      },
      {
        section: 'profiles',
        index: 2,
        name: 'heir',
        reason: 'it extends `bad`, which cannot be loaded',
      },
    ]);
    expect(registry.profile('bad')).toBeUndefined();
    expect(registry.profile('heir')).toBeUndefined();
  });

  test('a circle fails all that are in it, naming it', async () => {
    const { load } = world(
      'profiles: { a: { extends: b }, b: { extends: c }, c: { extends: a }, d: { tools: [] } }',
    );
    const { loaded, failed } = await load();
    expect(loaded).toEqual(['d']);
    expect(failed.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(failed[2]?.reason).toBe('`extends` leads back to itself: a → b → c → a');
  });

  test('a circle through a profile of the host is one too', async () => {
    const { load, registry, write } = world('profiles: { a: { tools: [] } }');
    await load();
    registry.defineProfile({ id: 'host', extends: 'a', tools: [] });
    write('profiles: { a: { extends: host, tools: [] }, b: { tools: [] } }');
    await expect(load()).rejects.toMatchObject({
      code: 'invalid_file',
      message: expect.stringContaining('`host` extends it'),
    });
    expect(registry.profile('a')).toEqual({ id: 'a', tools: [] });
  });

  test('names such as __proto__ and constructor are names like others', async () => {
    const { load, registry } = world(
      'profiles:\n  __proto__: { tools: [git] }\n  constructor: { tools: { __proto__: {} } }\n',
    );
    const { loaded, failed } = await load();
    expect(loaded).toEqual(['__proto__']);
    expect(failed).toMatchObject([
      { name: 'constructor', reason: expect.stringContaining('`__proto__`') },
    ]);
    expect(registry.profile('constructor')).toBeUndefined();
    expect(({} as { tools?: unknown }).tools).toBeUndefined();
  });
});

describe('loadProfiles', () => {
  const module = { 'm.mjs': 'export default () => 1' };

  test('takes the profiles alone: tools and rules of the file are left', async () => {
    const { load, registry } = world(
      'tools: [{ name: x, module: ./gone.mjs }]\nrules: [{ effect: nonsense }]\nprofiles: { ' +
        'p: { tools: [git] } }',
    );
    expect(await load()).toMatchObject({ loaded: ['p'], failed: [] });
    expect(registry.listNames()).toEqual(['git', 'read_file']);
  });

  test('leaves tools and rules that loadHostTools took from the same file', async () => {
    const { at, write } = folder({
      'a.json': {
        tools: [{ name: 'a', description: 'A.', module: 'm.mjs' }],
        rules: [{ effect: 'deny' }],
        profiles: { p: { tools: ['a'] } },
      },
      ...module,
    });
    const registry = new HostToolRegistry();
    await loadHostTools(at('a.json'), registry);
    write({ 'a.json': { profiles: { q: { tools: ['a'] } } } });
    expect(await loadProfiles(at('a.json'), registry)).toMatchObject({ loaded: ['q'], failed: [] });
    expect(registry.listNames()).toEqual(['a']);
    expect(registry.profile('p')).toBeUndefined();
    const result = await registry
      .createSession({ sessionId: 's', services: undefined })
      .call('a', {});
    expect(result.error?.code).toBe('policy_denied');
  });

  test(
    'sessions follow a profile that is loaded again; one whose profile is gone keeps it as it ' +
      'was',
    async () => {
      const { load, write, session } = world(
        'profiles: { p: { tools: { git: { maxFiles: 2 } } } }',
      );
      await load();
      const open = session('p');
      expect((await open.call('git', {})).output).toMatchObject({ maxFiles: 2 });
      write('profiles: { p: { tools: { git: { maxFiles: 3 } } } }');
      await load();
      expect((await open.call('git', {})).output).toMatchObject({ maxFiles: 3 });
      write('profiles: {}');
      await load();
      expect((await open.call('git', {})).output).toMatchObject({ maxFiles: 3 });
      expect(() => session('p')).toThrow(/p/);
    },
  );
});
