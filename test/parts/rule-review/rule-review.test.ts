import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { registryStateOf } from '../../../src/core/registry/state-of.ts';
import {
  type AnyTool,
  defineTool,
  HostToolRegistry,
  MisuseError,
  type RegistryOptions,
  type Rule,
} from '../../../src/index.ts';

function tool(name: string, shape: z.ZodRawShape = {}, more: object = {}): AnyTool<unknown> {
  return defineTool({
    name,
    description: 'For a test.',
    parameters: z.object(shape),
    handler: () => 1,
    ...more,
  } as never) as AnyTool<unknown>;
}

const deploy = tool('deploy', { environment: z.string() });
const typo: Rule = { id: 'typo', effect: 'deny', tools: 'deploy', when: { enviroment: 'x' } };
const everywhere: Rule = { id: 'all', effect: 'deny', when: { path: '/etc/passwd' } };

const says = (id: string, layer: string, text: string): string =>
  `The rule \`${id}\` (${layer}) does not do what it says: ${text}`;
const typoText =
  '`when["enviroment"]: "x"` never holds: `deploy` has no `enviroment`. Did you mean `environment`?';

function set(options: RegistryOptions = {}) {
  const lines: string[] = [];
  const warn = (_data: object, message?: string): void => void lines.push(String(message));
  const registry = new HostToolRegistry({ logger: { warn, error: warn }, ...options });
  /** What was logged since the last look. */
  const logged = (): string[] => lines.splice(0);
  return { registry, logged };
}

describe('a rule that names its tools is reviewed', () => {
  test('when it is added, and once', () => {
    const { registry, logged } = set();
    registry.register(deploy);
    registry.addRules([typo]);
    expect(logged()).toEqual([says('typo', 'registry', typoText)]);
    registry.addRules([typo]);
    registry.createSession({ sessionId: 's' });
    expect(logged()).toEqual([]);
  });

  test('when its tools are registered, if it was there before', () => {
    const { registry, logged } = set({ rules: [typo] });
    expect(logged()).toEqual([]);
    registry.register(tool('other'));
    expect(logged()).toEqual([]);
    registry.register(deploy);
    expect(logged()).toEqual([says('typo', 'registry', typoText)]);
  });

  test('when the last of its tools is there', () => {
    const { registry, logged } = set({ rules: [{ ...typo, tools: ['deploy', 'release'] }] });
    registry.register(deploy);
    expect(logged()).toEqual([]);
    registry.register(tool('release', { enviroment: z.string() }));
    registry.createSession({ sessionId: 's' });
    expect(logged()).toEqual([]);
  });

  test('again when a tool is replaced, and with all versions of a tool', () => {
    const { registry, logged } = set({ rules: [{ ...typo, when: { environment: 'x' } }] });
    registry.register(deploy);
    expect(logged()).toEqual([]);
    registry.registerOrReplace(tool('deploy', { target: z.string() }));
    expect(logged()).toHaveLength(1);

    const versions = set({ rules: [typo] });
    versions.registry.registerAll([
      tool('deploy', { environment: z.string() }, { version: '1.0.0' }),
      tool('deploy', { enviroment: z.string() }, { version: '2.0.0' }),
    ]);
    expect(versions.logged()).toEqual([]);
  });

  test('wherever it is written', () => {
    const { registry, logged } = set();
    registry.register(deploy);
    registry.defineProfile({ id: 'p', tools: ['deploy'], rules: [typo] });
    expect(logged()).toEqual([says('typo', 'profile:p', typoText)]);
    registry.createSession({ sessionId: 's', rules: [typo] });
    expect(logged()).toEqual([says('typo', 'session', typoText)]);
    // Each session is new, but what is wrong is not.
    registry.createSession({ sessionId: 't', rules: [typo] });
    expect(logged()).toEqual([]);
    const scope = registry.scope('plugin', {
      prefix: 'p_',
      rules: [{ id: 'own', effect: 'deny', tools: 'p_run', when: { comand: 'rm' } }],
    });
    scope.register(tool('run', { command: z.string() }));
    expect(logged()).toEqual([
      says(
        'own',
        'scope:plugin',
        '`when["comand"]: "rm"` never holds: `p_run` has no `comand`. Did you mean `command`?',
      ),
    ]);
  });

  test('for a tool that only one session has', () => {
    const { registry, logged } = set({ rules: [typo] });
    const session = registry.createSession({ sessionId: 's', rules: [{ ...typo, id: 'mine' }] });
    expect(logged()).toEqual([]);
    session.register(deploy);
    expect(logged()).toEqual([
      says('typo', 'registry', typoText),
      says('mine', 'session', typoText),
    ]);
  });

  test('and so is a quota', () => {
    const { registry, logged } = set();
    registry.register(deploy);
    registry.addQuotas([
      { id: 'q', tools: 'deploy', sum: 'amount', max: 1, per: 'day', by: 'registry' },
    ]);
    expect(logged()).toEqual([
      'The quota `q` (registry) does not do what it says: `sum` is `amount`, so nothing is added ' +
        'up: `deploy` has no `amount`.',
    ]);
  });
});

test('what was searched once is not searched again for each session', () => {
  const rules = Array.from(
    { length: 30 },
    () => ({ effect: 'deny', when: { path: 'x' } }) as const,
  );
  const { registry, logged } = set({ rules });
  registry.registerAll(Array.from({ length: 1_000 }, (_, at) => tool(`t${at}`, { a: z.string() })));
  registry.createSession({ sessionId: 's', rules: [everywhere] });
  // One review takes a bounded number of steps, so not all rules are reached.
  expect(logged().length).toBeLessThan(30);
  const search = vi.spyOn(registryStateOf(registry).catalogue.names, 'all');
  for (const sessionId of ['t', 'u', 'v'])
    registry.createSession({ sessionId, rules: [everywhere] });
  expect(search).not.toHaveBeenCalled();
  expect(logged()).toEqual([]);
});

describe('a rule of a session in which nothing was found', () => {
  const fine: Rule = { id: 'fine', effect: 'deny', tools: 'deploy', when: { environment: 'x' } };

  test('is not searched again for each session', () => {
    const { registry, logged } = set();
    registry.register(deploy);
    registry.createSession({ sessionId: 's', rules: [fine, { ...fine, tools: 'dep*' }] });
    const search = vi.spyOn(registryStateOf(registry).catalogue.names, 'all');
    for (const sessionId of ['t', 'u'])
      registry.createSession({ sessionId, rules: [fine, { ...fine, tools: 'dep*' }] });
    expect(search).not.toHaveBeenCalled();
    expect(logged()).toEqual([]);
  });

  test.each<[string, Partial<Rule>, string]>([
    ['other tools', { tools: 'read' }, '`read` has no `environment`.'],
    ['other tools by a wildcard', { tools: 're*' }, '`read` has no `environment`.'],
    ['tags', { tools: [], tags: 'reads' } as never, '`read` has no `environment`.'],
    ['another condition', { when: { env: 'x' } }, '`deploy` has no `env`.'],
  ])('says nothing about one with the same id and %s', (_, other, text) => {
    const { registry, logged } = set();
    registry.registerAll([deploy, tool('read', { path: z.string() }, { tags: ['reads'] })]);
    registry.createSession({ sessionId: 's', rules: [fine] });
    const { tools, ...rest } = { ...fine, ...other };
    const rule = { ...rest, ...(tools?.length === 0 ? {} : { tools }) } as Rule;
    registry.createSession({ sessionId: 't', rules: [rule] });
    expect(logged()).toEqual([expect.stringContaining(text)]);
  });

  test('is searched again once the tools have changed', () => {
    const { registry, logged } = set();
    registry.register(deploy);
    registry.createSession({ sessionId: 's', rules: [fine] });
    registry.unregister('deploy');
    registry.register(tool('deploy', { target: z.string() }));
    registry.createSession({ sessionId: 't', rules: [fine] });
    expect(logged()).toEqual([expect.stringContaining('`deploy` has no `environment`.')]);
  });

  test('is still refused where it has become wrong and rules are strict', () => {
    const { registry } = set({ strictRules: true });
    registry.register(deploy);
    registry.createSession({ sessionId: 's', rules: [fine] });
    registry.unregister('deploy');
    registry.register(tool('deploy', { target: z.string() }));
    for (const sessionId of ['t', 'u'])
      expect(() => registry.createSession({ sessionId, rules: [fine] })).toThrow(MisuseError);
  });
});

describe('a rule for tools that may still come is reviewed', () => {
  test('when it is added, if it is about a tool', () => {
    const { registry, logged } = set();
    registry.addRules([everywhere]);
    expect(logged()).toEqual([]);
    registry.register(deploy);
    registry.addRules([{ ...everywhere, id: 'again', tools: ['dep*'] }]);
    expect(logged()).toEqual([
      says(
        'again',
        'registry',
        '`when["path"]: "/etc/passwd"` never holds: `deploy` has no `path`.',
      ),
    ]);
  });

  test('else when a session is created, and not while tools are registered one by one', () => {
    const { registry, logged } = set({
      rules: [everywhere, { ...everywhere, id: 'star', tools: '*' }],
    });
    registry.register(deploy);
    registry.register(tool('read', { path: z.string() }));
    registry.createSession({ sessionId: 's' });
    expect(logged()).toEqual([]);

    const other = set({ rules: [everywhere] });
    other.registry.register(deploy);
    expect(other.logged()).toEqual([]);
    other.registry.createSession({ sessionId: 's' });
    other.registry.createSession({ sessionId: 't' });
    expect(other.logged()).toEqual([
      says('all', 'registry', '`when["path"]: "/etc/passwd"` never holds: `deploy` has no `path`.'),
    ]);
  });

  test('only for the tools that tags, annotations, sources and scopes leave', () => {
    const rules: Rule[] = [
      { id: 'tag', effect: 'deny', tags: 'files', when: { path: 'x' } },
      { id: 'writes', effect: 'deny', annotations: { readOnly: true }, when: { path: 'x' } },
      { id: 'from', effect: 'deny', source: 'plugin', when: { path: 'x' } },
    ];
    const { registry, logged } = set({ rules });
    const scope = registry.scope('plugin', {
      rules: [{ id: 'in', effect: 'deny', when: { path: 'x' } }],
    });
    registry.register(tool('read', { path: z.string() }, { tags: ['files'] }));
    registry.createSession({ sessionId: 's' });
    expect(logged()).toEqual([]);
    scope.register(tool('own', {}, { annotations: { readOnly: true } }));
    registry.createSession({ sessionId: 't' });
    expect(logged().map((line) => line.slice(0, 20))).toEqual([
      'The rule `writes` (r',
      'The rule `from` (reg',
      'The rule `in` (scope',
    ]);
  });

  test('not because of the tool that the registry has by itself', () => {
    const { registry, logged } = set({ rules: [everywhere], offload: {} });
    registry.createSession({ sessionId: 's' });
    expect(logged()).toEqual([]);
  });
});

describe('a profile', () => {
  test('that may get more tools is not reviewed for rules without names', () => {
    const { registry, logged } = set();
    registry.register(deploy);
    const profile = { id: 'p', rules: [everywhere] };
    registry.defineProfile({ ...profile, tools: ['deploy', { name: 'read', optional: true }] });
    expect(logged()).toEqual([]);
    registry.register(tool('read', { path: z.string() }));
    registry.createSession({ sessionId: 's', profile: 'p' });
    expect(logged()).toEqual([]);
    registry.unregister('read');
    registry.defineProfile({ ...profile, id: 'q', tools: ['deploy'] });
    expect(logged()).toHaveLength(1);
  });

  test('is judged by all tools, since heirs and overrides bring others', () => {
    const { registry, logged } = set();
    registry.registerAll([deploy, tool('read', { path: z.string() })]);
    registry.defineProfile({ id: 'base', tools: ['deploy'], rules: [everywhere] });
    registry.defineProfile({ id: 'child', extends: 'base', tools: ['read'] });
    expect(logged()).toEqual([]);
  });
});

describe('with `strictRules`', () => {
  const strict = (options: RegistryOptions = {}): HostToolRegistry =>
    new HostToolRegistry({ strictRules: true, ...options });
  const thrown = (run: () => unknown): unknown => {
    try {
      run();
    } catch (error) {
      return error;
    }
    return undefined;
  };
  const refusal = expect.objectContaining({
    code: 'invalid_rule',
    message: expect.stringContaining('never holds'),
  });

  test('`addRules` throws and adds nothing', async () => {
    const registry = strict();
    registry.register(deploy);
    expect(thrown(() => registry.addRules([{ ...typo, effect: 'allow' }, typo]))).toEqual(refusal);
    expect(registry.unusedRules()).toEqual([]);
    const remove = registry.addRules([
      { effect: 'deny', tools: 'deploy', when: { environment: 'x' } },
    ]);
    expect(registry.unusedRules()).toEqual([{ id: 'registry#0', layer: 'registry' }]);
    remove();
  });

  test('`register` throws and registers nothing', () => {
    const registry = strict({ rules: [typo] });
    expect(thrown(() => registry.registerAll([tool('other'), deploy]))).toEqual(refusal);
    expect(registry.listNames()).toEqual([]);
    registry.register(tool('deploy', { enviroment: z.string() }));
    expect(thrown(() => registry.registerOrReplace(deploy))).toEqual(refusal);
    expect(registry.get('deploy')).not.toBe(deploy);
  });

  test('`defineProfile`, `scope`, `addQuotas` and `createSession` throw', () => {
    const registry = strict();
    registry.register(deploy);
    expect(
      thrown(() => registry.defineProfile({ id: 'p', tools: ['deploy'], rules: [typo] })),
    ).toEqual(refusal);
    expect(registry.profile('p')).toBeUndefined();
    expect(thrown(() => registry.createSession({ sessionId: 's', rules: [typo] }))).toEqual(
      refusal,
    );
    expect(thrown(() => strict().addQuotas([]))).toBeUndefined();
    const quota = { id: 'q', max: 1, per: 'day', by: { path: 'environmnt' } } as const;
    expect(thrown(() => registry.addQuotas([{ ...quota, tools: 'deploy' }]))).toMatchObject({
      code: 'invalid_quota',
    });
    registry.addQuotas([{ ...quota, by: { path: 'environment' } }]);
    const late = strict({ rules: [everywhere] });
    late.register(deploy);
    expect(thrown(() => late.createSession({ sessionId: 's' }))).toEqual(refusal);
    expect(thrown(() => late.createSession({ sessionId: 's' }))).toEqual(refusal);
  });

  test('a session refuses a tool of its own', () => {
    const session = strict({ rules: [typo] }).createSession({ sessionId: 's' });
    expect(thrown(() => session.register(deploy))).toEqual(refusal);
    expect(session.tool('deploy')).toBeUndefined();
  });

  test('needs a boolean', () => {
    expect(() => new HostToolRegistry({ strictRules: 'yes' } as never)).toThrow(MisuseError);
  });
});

test('`explain` lists what is wrong with the rules and quotas of a tool', async () => {
  const registry = new HostToolRegistry({
    logger: { warn: () => {}, error: () => {} },
    rules: [typo, everywhere],
    quotas: [{ id: 'q', tools: 'deploy', max: 1, per: 'day', by: { path: 'environmnt' } }],
  });
  registry.registerAll([deploy, tool('read', { path: z.string() })]);
  const session = registry.createSession({
    sessionId: 's',
    rules: [{ id: 'mine', effect: 'ask', tools: 'deploy', when: { environment: { size: -1 } } }],
  });
  const { ruleFaults } = await session.explain('deploy', { environment: 'x' });
  expect(ruleFaults).toEqual([
    { ruleId: 'typo', source: 'registry', message: typoText },
    {
      ruleId: 'mine',
      source: 'session',
      message:
        '`when["environment"]: {"size":-1}` never holds: no value passes these tests together.',
    },
    {
      ruleId: 'q',
      source: 'registry',
      message:
        '`by` is `environmnt`, so every call is refused: `deploy` has no `environmnt`. Did you ' +
        'mean `environment`?',
    },
  ]);
  expect((await session.explain('read', { path: 'x' })).ruleFaults).toBeUndefined();
  // A tool that is still missing may have what the rule looks for.
  const early = new HostToolRegistry({ rules: [{ ...typo, tools: ['deploy', 'release'] }] });
  early.register(deploy);
  const { ruleFaults: none } = await early.createSession({ sessionId: 's' }).explain('deploy');
  expect(none).toBeUndefined();
  expect((await session.explain('nothing')).ruleFaults).toBeUndefined();
});

test('without a logger, the process warns, once', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  onTestFinished(() => warned.mockRestore());
  const registry = new HostToolRegistry({ rules: [typo] });
  registry.register(deploy);
  registry.createSession({ sessionId: 's' });
  registry.createSession({ sessionId: 't' });
  expect(warned.mock.calls).toEqual([
    [`The rule \`typo\` (registry) does not do what it says: ${typoText}`, 'HostToolsWarning'],
  ]);
});
