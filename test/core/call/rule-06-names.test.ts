import { describe, expect, test } from 'vitest';
import { type HostToolRegistry, isMisuseError } from '../../../src/index.ts';
import { andThen, define, setup, thrownBy } from './define.ts';

/** Names that a person or a model takes for one another. */
const twins: [kind: string, name: string, twin: string][] = [
  ['the same name', 'read_file', 'read_file'],
  ['case', 'read_file', 'Read_File'],
  ['- for _', 'read_file', 'read-file'],
  ['case and dash', 'read_file', 'READ-FILE'],
  ['NFKC, fullwidth letters', 'read_file', 'ｒｅａｄ_ｆｉｌｅ'],
  ['NFKC, a ligature', 'read_file', 'read_ﬁle'],
  ['a Cyrillic letter', 'read_file', 'reаd_file'],
  ['a Greek letter', 'pay', 'ρay'],
  ['a Cyrillic word', 'cop', 'сор'],
  ['0 for O', 'go_on', 'g0_on'],
  ['1 for l', 'list_all', '1ist_all'],
  ['I for l', 'list_all', 'list_aII'],
  ['an exotic dash', 'read-file', 'read‐file'],
];

describe('names cannot be shadowed by twins (case, -/_, NFKC, confusables)', () => {
  test.each(twins)('%s: the registry refuses the second', (kind, name, twin) => {
    for (const [first, second] of [
      [name, twin],
      [twin, name],
    ] as const) {
      const { registry } = setup([define(first)]);
      const thrown = thrownBy(() => registry.register(define(second)));
      expect(thrown).toMatchObject({
        code: kind === 'the same name' ? 'duplicate_name' : 'name_conflict',
        message: expect.stringContaining(second),
      });
      expect((thrown as Error).message).toContain(first);
      expect(registry.listNames()).toEqual([first]);
    }
  });

  test.each(twins)(
    '%s: a scope, a prefix and a batch of definitions are refused',
    (_, name, twin) => {
      const { registry } = setup([define(name)]);
      expect(isMisuseError(thrownBy(() => registry.scope('plugin').register(define(twin))))).toBe(
        true,
      );
      expect(
        isMisuseError(
          thrownBy(() =>
            registry
              .scope('prefixed', { prefix: twin.slice(0, 2) })
              .register(define(twin.slice(2))),
          ),
        ),
      ).toBe(true);
      expect(
        isMisuseError(thrownBy(() => registry.registerAll([define('fresh'), define(twin)]))),
      ).toBe(true);
      expect(registry.listNames()).toEqual([name]);
    },
  );

  test.each(twins)('%s: two of one batch are refused', (_, name, twin) => {
    const { registry } = setup([]);
    expect(isMisuseError(thrownBy(() => registry.registerAll([define(name), define(twin)])))).toBe(
      true,
    );
    expect(registry.count).toBe(0);
  });

  test.each(twins)('%s: a session’s tool cannot take it, nor two of a session', (_, name, twin) => {
    const { session } = setup([define(name)]);
    expect(thrownBy(() => session.register(define(twin)))).toMatchObject({
      code: expect.stringMatching(/duplicate_name|name_conflict/),
      message: expect.stringContaining('Session `s`'),
    });
    const alone = setup([]).session;
    alone.register(define(name));
    expect(isMisuseError(thrownBy(() => alone.register(define(twin))))).toBe(true);
    expect(alone.tools().map((tool) => tool.name)).toEqual([name]);
  });

  test.each(twins)('%s: an internal or a hidden tool keeps its name too', (_, name, twin) => {
    const { session } = setup([define(name, { exposure: 'internal' })]);
    expect(isMisuseError(thrownBy(() => session.register(define(twin))))).toBe(true);
    const { session: other } = setup([define(name)], { rules: [{ effect: 'deny' }] });
    expect(isMisuseError(thrownBy(() => other.register(define(twin))))).toBe(true);
  });

  test.each(twins)(
    '%s: a registry tool that comes later takes the name, and tools:changed says so',
    async (_, name, twin) => {
      const { session, registry } = setup([]);
      const heard: unknown[] = [];
      const registration = session.register(define(twin, { handler: () => 'the session’s' }));
      session.events.on(
        'tools:changed',
        ({ added, removed, modified }) => void heard.push({ added, removed, modified }),
      );
      registry.register(define(name, { handler: () => 'the registry’s' }));
      expect(await session.call(name)).toMatchObject({ output: 'the registry’s' });
      if (twin !== name)
        expect(await session.call(twin)).toMatchObject({
          error: { code: 'tool_not_found', details: { didYouMean: [name] } },
        });
      expect(session.tools().map((tool) => [tool.name, tool.source])).toEqual([[name, 'host']]);
      expect(heard).toEqual([
        twin === name
          ? { added: [], removed: [], modified: [name] }
          : { added: [name], removed: [twin], modified: [] },
      ]);
      registration.disable();
      expect(registration.unregister()).toBe(false);
      expect(await session.call(name)).toMatchObject({ success: true });
      registry.unregister(name);
      expect(await session.call(name), 'it does not come back').toMatchObject({
        error: { code: 'tool_not_available', reason: 'removed' },
      });
    },
  );

  test('a name is free again when its holder is gone', () => {
    const { session, registry } = setup([define('read_file')]);
    registry.unregister('read_file');
    expect(session.register(define('Read-File')).name).toBe('Read-File');
    const own = registry.register(define('readFile'));
    own.unregister();
    expect(registry.register(define('READFILE')).name).toBe('READFILE');
    registry.clear();
    registry.register(define('readfile'));
  });

  test('a replacement under the very name is no twin, one under a twin is', () => {
    const { registry } = setup([define('read_file')]);
    expect(registry.registerOrReplace(define('read_file'))).toBe(true);
    expect(thrownBy(() => registry.registerOrReplace(define('read-file')))).toMatchObject({
      code: 'name_conflict',
    });
  });

  test('names that merely resemble stay apart', () => {
    const names = [
      'read_file',
      'read_files',
      'readfile',
      'read.file',
      'read/file',
      'file_read',
      'read_file2',
    ];
    expect(setup(names.map((name) => define(name))).registry.listNames()).toEqual(names);
  });

  test('a call under a twin’s spelling is not found, and runs nothing', async () => {
    const { session } = setup([define('read_file')]);
    for (const [, name, twin] of twins)
      if (name === 'read_file' && twin !== name)
        expect(await session.call(twin), twin).toMatchObject({
          error: { code: 'tool_not_found', details: { didYouMean: ['read_file'] } },
        });
  });
});

describe('state hangs off the session object, never off its id', () => {
  test(
    'two sessions of one id share no tools, facts, profile, overrides, grants, loop guard, ' +
      'metrics or events',
    async () => {
      const { registry } = setup([
        define('t', { requires: [{ fact: 'f', equals: 1 }], requiresApproval: true }),
        define('u'),
      ]);
      registry.defineProfile({ id: 'p', tools: ['t'] });
      const make = () =>
        registry.createSession({
          sessionId: 'same',
          principal: 'ann',
          limits: { loopGuard: 2 },
          approver: () => 'allow_always',
        });
      const [one, two] = [make(), make()];
      const heard: unknown[] = [];
      two.events.on('*', (event) => void heard.push(event));
      one.register(define('mine'));
      one.setFacts({ f: 1 });
      one.setProfile('p');
      await one.call('t');
      await one.call('t');
      expect(one.approvals.grants()).toHaveLength(1);
      expect(two.approvals.grants()).toEqual([]);
      expect(await one.call('t')).toMatchObject({ error: { code: 'loop_detected' } });
      expect(two.tools().map(({ name }) => name)).toEqual(['u']);
      expect(await two.call('mine')).toMatchObject({ error: { code: 'tool_not_found' } });
      expect(await two.call('u')).toMatchObject({ success: true });
      expect(two.metrics()).toMatchObject({ calls: 2 });
      expect(heard.every((event) => (event as { toolName?: string }).toolName !== 't')).toBe(true);
      await one.close();
      expect(await two.call('u')).toMatchObject({ success: true });
    },
  );

  test('call ids of one session mean nothing in another of the same id', async () => {
    let open: () => void = () => {};
    const { registry } = setup([
      define('t', { handler: () => new Promise<void>((resolve) => (open = resolve)) }),
      define('u'),
    ]);
    const [one, two] = [
      registry.createSession({ sessionId: 'same' }),
      registry.createSession({ sessionId: 'same' }),
    ];
    const calling = one.call('t', {}, { callId: 'c' });
    expect(await two.call('u', {}, { callId: 'c' })).toMatchObject({ success: true });
    open();
    await calling;
  });
});

describe('a source cannot be impersonated', () => {
  test.each<[string, (registry: HostToolRegistry) => unknown, string]>([
    ['a scope named host', (registry) => registry.scope('host'), 'invalid_option'],
    ['a scope named session', (registry) => registry.scope('session'), 'invalid_option'],
    ['a blank scope', (registry) => registry.scope(' '), 'invalid_option'],
    [
      'a scope that exists',
      (registry) => andThen(registry.scope('a'), registry.scope('a')),
      'duplicate_name',
    ],
    [
      'the host replacing a scope’s tool',
      (registry) =>
        andThen(registry.scope('a').register(define('t')), registry.registerOrReplace(define('t'))),
      'name_conflict',
    ],
  ])('%s is refused', (_, act, code) => {
    expect(thrownBy(() => act(setup([]).registry))).toMatchObject({ code });
  });
});
