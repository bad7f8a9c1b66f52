/** Versions of a tool side by side. */
import { describe, expect, it } from 'vitest';
import { defineTool, HostToolRegistry, type ToolSession } from '../../../src/index.ts';

const git = (version?: string, extra: object = {}) =>
  defineTool({
    name: 'git',
    description: `Git ${version ?? 'without a version'}.`,
    parameters: { type: 'object' },
    handler: () => version ?? 'none',
    ...(version === undefined ? {} : { version }),
    ...extra,
  });
const shown = (session: ToolSession) => session.tool('git')?.version ?? 'none';

function world(...versions: (string | undefined)[]) {
  const registry = new HostToolRegistry();
  const registrations = new Map(
    versions.map((version) => [version, registry.register(git(version))] as const),
  );
  return { registry, registrations, session: registry.createSession({ sessionId: 's' }) };
}

function picked(registry: HostToolRegistry, tool: string): string {
  registry.defineProfile({ id: 'p', tools: [{ name: tool, optional: true }] });
  const session = registry.createSession({ sessionId: 'p', profile: 'p' });
  return session.tool('git') === undefined ? 'hidden' : shown(session);
}

describe('several versions of a tool', () => {
  it('are one tool for a model: the newest that is no pre-release', async () => {
    const { session, registry } = world('1.9.0', '1.10.0', undefined, '2.0.0-rc.1', '0.1.0');
    expect(session.effectiveTools().names).toEqual(['git']);
    expect(shown(session)).toBe('1.10.0');
    expect((await session.call('git', {})).output).toBe('1.10.0');
    expect(registry.get('git')?.version).toBe('1.10.0');
    expect(registry.count).toBe(1);
    expect(registry.listNames()).toEqual(['git']);
    expect(registry.listTools().map(({ version }) => version)).toEqual([
      '2.0.0-rc.1',
      '1.10.0',
      '1.9.0',
      '0.1.0',
      undefined,
    ]);
  });

  it('show a tool without a version only if there is no release', () => {
    expect(shown(world(undefined, '0.0.1').session)).toBe('0.0.1');
    expect(shown(world(undefined, '1.0.0-rc.1').session)).toBe('none');
  });

  it('show the newest pre-release if there is nothing else', () => {
    expect(shown(world('1.0.0-rc.2', '1.0.0-rc.10').session)).toBe('1.0.0-rc.10');
  });

  it('keep the place of the name in the order', () => {
    const { registry, session } = world('1.0.0');
    registry.register(
      defineTool({
        name: 'ls',
        description: 'Lists.',
        parameters: { type: 'object' },
        handler: () => 1,
      }),
    );
    registry.register(git('2.0.0'));
    expect(session.effectiveTools().names).toEqual(['git', 'ls']);
  });

  it('uncover the next one if the newest is disabled or removed', () => {
    const { registrations, session } = world('1.0.0', '2.0.0', '3.0.0');
    registrations.get('3.0.0')?.disable();
    expect(shown(session)).toBe('2.0.0');
    registrations.get('2.0.0')?.unregister();
    expect(shown(session)).toBe('1.0.0');
    registrations.get('3.0.0')?.enable();
    expect(shown(session)).toBe('3.0.0');
    expect(registrations.get('2.0.0')?.unregister()).toBe(false);
  });

  it('say `disabled` if all are', async () => {
    const { registrations, session } = world('1.0.0', '2.0.0');
    for (const registration of registrations.values()) registration.disable();
    expect((await session.call('git', {})).error).toMatchObject({
      code: 'tool_not_available',
      reason: 'disabled',
    });
  });

  it('never uncover a pre-release in place of a release', () => {
    const { registrations, session } = world('1.0.0', '2.0.0-rc.1');
    registrations.get('1.0.0')?.disable();
    expect(session.tool('git')).toBeUndefined();
  });

  it('are updated one by one', () => {
    const { registrations, session } = world('1.0.0', '2.0.0');
    registrations.get('1.0.0')?.update({ description: 'Old.' });
    expect(session.tool('git')?.description).toBe('Git 2.0.0.');
    registrations.get('2.0.0')?.update({ description: 'New.' });
    expect(session.tool('git')?.description).toBe('New.');
    registrations.get('2.0.0')?.unregister();
    expect(session.tool('git')?.description).toBe('Old.');
  });

  it('let calls in flight finish on their own version', async () => {
    const registry = new HostToolRegistry();
    let finish: (value: string) => void = () => {};
    const first = registry.register(
      git('1.0.0', {
        handler: () =>
          new Promise<string>((resolve) => {
            finish = resolve;
          }),
      }),
    );
    const session = registry.createSession({ sessionId: 's' });
    const early = session.call('git', {});
    registry.register(git('2.0.0'));
    const drained = first.drain().then(() => 'drained');
    expect((await session.call('git', {})).output).toBe('2.0.0');
    finish('old');
    expect((await early).output).toBe('old');
    expect(await drained).toBe('drained');
  });

  it('are announced as changes of one tool', () => {
    const { registry, session } = world('1.0.0');
    const told: unknown[] = [];
    registry.events.on('tools:changed', ({ added, removed, modified }) =>
      told.push({ added, removed, modified }),
    );
    const seen: unknown[] = [];
    session.events.on('tools:changed', ({ added, removed, modified }) =>
      seen.push({ added, removed, modified }),
    );
    const second = registry.register(git('2.0.0'));
    registry.register(git('1.5.0'));
    second.unregister();
    registry.unregister('git');
    const one = (kind: string) => ({ added: [], removed: [], modified: [], [kind]: ['git'] });
    expect(told).toEqual([one('modified'), one('modified'), one('modified'), one('removed')]);
    // 1.5.0 was hidden by 2.0.0, so this session saw no change then.
    expect(seen).toEqual([one('modified'), one('modified'), one('removed')]);
  });

  it('are removed together by name, and alone by definition', () => {
    const registry = new HostToolRegistry();
    const one = git('1.0.0');
    registry.registerAll([one, git('2.0.0'), git('3.0.0')]);
    expect(registry.unregister(one)).toBe(true);
    expect(registry.unregister(one)).toBe(false);
    expect(registry.listTools().map(({ version }) => version)).toEqual(['3.0.0', '2.0.0']);
    expect(registry.unregister('git')).toBe(true);
    expect(registry.count).toBe(0);
    expect(registry.unregister(undefined as never)).toBe(false);
    registry.register(one);
    expect(registry.clear()).toBe(1);
  });

  it('are replaced by version, or whatever the version if there is only one', () => {
    const registry = new HostToolRegistry();
    registry.register(git('2.0.0'));
    expect(registry.registerOrReplace(git('1.0.0'))).toBe(true);
    expect(registry.get('git')?.version).toBe('1.0.0');
    registry.register(git('2.0.0'));
    expect(registry.registerOrReplace(git('1.0.0', { description: 'New.' }))).toBe(true);
    expect(registry.registerOrReplace(git('1.5.0'))).toBe(false);
    expect(registry.listTools().map(({ version, description }) => [version, description])).toEqual([
      ['2.0.0', 'Git 2.0.0.'],
      ['1.5.0', 'Git 1.5.0.'],
      ['1.0.0', 'New.'],
    ]);
  });

  it('are all of one scope, which disposes them', async () => {
    const registry = new HostToolRegistry();
    const scope = registry.scope('plugin:git');
    scope.registerAll([git('1.0.0'), git('2.0.0')]);
    expect(scope.listNames()).toEqual(['git']);
    await scope.dispose();
    expect(registry.count).toBe(0);
  });
});

describe('a version that cannot be registered', () => {
  const refused = (versions: (string | undefined)[], message: string) => {
    const registry = new HostToolRegistry();
    expect(() => registry.registerAll(versions.map((version) => git(version)))).toThrow(
      expect.objectContaining({ code: 'duplicate_name', message }),
    );
    expect(registry.count).toBe(0);
  };

  it('has a twin', () => {
    refused(
      [undefined, undefined],
      'Tool `git` is already registered. Use registerOrReplace() to replace it, or choose ' +
        'another name.',
    );
    refused(
      ['1.0.0', '2.0.0', '1.0.0'],
      'Tool `git` is already registered in version 1.0.0. Use registerOrReplace() to replace it, ' +
        'or choose another name or version.',
    );
    refused(
      ['1.0.0+a', '1.0.0+b'],
      'Tool `git` is already registered in version 1.0.0+a, which is the same as 1.0.0+b. Use ' +
        'registerOrReplace() to replace it, or choose another version.',
    );
  });

  it('has no place in an order', () => {
    refused(
      ['1.0.0', '2024-05'],
      'Tool `git` is already registered. To register several versions of a tool, give each a ' +
        'version such as "1.2.0"; got "2024-05".',
    );
  });

  it('is of another source, which could otherwise take over a tool', () => {
    const registry = new HostToolRegistry();
    registry.register(git('1.0.0'));
    expect(() => registry.scope('plugin:evil').register(git('99.0.0'))).toThrow(
      'Tool `git` is already registered by `host`. Only that source can add versions of it. ' +
        'Choose another name.',
    );
    expect(registry.get('git')?.version).toBe('1.0.0');
  });

  it('is one too many', () => {
    const registry = new HostToolRegistry();
    for (let patch = 0; patch < 64; patch++) registry.register(git(`1.0.${patch}`));
    expect(() => registry.register(git('2.0.0'))).toThrow(
      'Tool `git` is already registered in 64 versions. Unregister some of them first.',
    );
  });
});

describe('a profile', () => {
  it('names the versions that it takes', () => {
    const { registry } = world('1.4.0', '1.5.0', '2.0.0', '3.0.0-rc.1', undefined);
    expect(picked(registry, 'git')).toBe('2.0.0');
    expect(picked(registry, 'git@*')).toBe('2.0.0');
    expect(picked(registry, 'git@^1')).toBe('1.5.0');
    expect(picked(registry, 'git@1.4.0')).toBe('1.4.0');
    expect(picked(registry, 'git@<1.5 || >=9')).toBe('1.4.0');
    expect(picked(registry, 'git@>=2')).toBe('2.0.0');
    expect(picked(registry, 'git@^3.0.0-rc.0')).toBe('3.0.0-rc.1');
    expect(picked(registry, 'git@^4')).toBe('hidden');
  });

  it('follows versions that come and go', () => {
    const { registry, registrations } = world('1.4.0', '2.0.0');
    registry.defineProfile({ id: 'p', tools: ['git@^1'] });
    const session = registry.createSession({ sessionId: 'p', profile: 'p' });
    registry.register(git('1.9.0'));
    expect(shown(session)).toBe('1.9.0');
    registry.registerOrReplace(git('1.9.0', { description: 'Again.' }));
    expect(session.tool('git')?.description).toBe('Again.');
    registry.unregister(registry.listTools().find(({ version }) => version === '1.9.0') as never);
    expect(shown(session)).toBe('1.4.0');
    registrations.get('1.4.0')?.unregister();
    expect(session.effectiveTools().dropped).toEqual([{ name: 'git', code: 'not_registered' }]);
    session.setProfile('p');
    registry.defineProfile({ id: 'all', tools: ['git'] });
    session.setProfile('all');
    expect(shown(session)).toBe('2.0.0');
  });

  it('is refused if no registered version fits', () => {
    const { registry } = world('1.4.0', undefined);
    expect(() => registry.defineProfile({ id: 'p', tools: ['git@^2'] })).toThrow(
      'Profile `p`: expected a registered version of `git` that fits `^2`, got 1.4.0, none. ' +
        'Register it first, or mark it `optional`.',
    );
    expect(() => registry.defineProfile({ id: 'p', tools: ['git@latest'] })).toThrow(
      'Profile `p`: expected `tools` to name registered tools, got `git@latest`. "latest" is not ' +
        'a range of versions, such as `^1.2`. Register it first, or mark it `optional`.',
    );
    const long = `git@${'1||'.repeat(1_000)}`;
    expect(() => registry.defineProfile({ id: 'p', tools: [long] })).toThrow(
      `got \`${long.slice(0, 200)}\`. "${long.slice(4, 204)}" is not a range`,
    );
    expect(() => registry.defineProfile({ id: 'p', tools: ['git@^1', 'git'] })).toThrow(
      'a tool that the list names once',
    );
  });

  it('overrides the range of a parent, and keeps it where it names none', () => {
    const { registry } = world('1.0.0', '2.0.0', '3.0.0');
    registry.defineProfile({ id: 'parent', tools: ['git@^2'] });
    const of = (tools: string[]) => {
      registry.defineProfile({ id: 'child', extends: 'parent', tools });
      return shown(registry.createSession({ sessionId: 'c', profile: 'child' }));
    };
    expect(of([])).toBe('2.0.0');
    expect(of(['git'])).toBe('2.0.0');
    expect(of(['git@^1'])).toBe('1.0.0');
    expect(of(['git@*'])).toBe('3.0.0');
  });

  it('reads what follows the last @ as a range, whatever tools there are', () => {
    const registry = new HostToolRegistry();
    registry.register(
      defineTool({
        name: 'notify@2',
        description: 'Notifies.',
        parameters: { type: 'object' },
        handler: () => 1,
      }),
    );
    expect(() => registry.defineProfile({ id: 'p', tools: ['notify@2'] })).toThrow('`notify`');
    registry.defineProfile({ id: 'p', tools: ['notify@2@*'] });
    const session = registry.createSession({ sessionId: 's', profile: 'p' });
    expect(session.effectiveTools().names).toEqual(['notify@2']);
  });

  it('has rules, knobs and limits that name the tool by its plain name', async () => {
    const { registry } = world('1.0.0', '2.0.0');
    registry.defineProfile({
      id: 'p',
      tools: [{ name: 'git@^1', requiresApproval: true }],
      rules: [{ effect: 'deny', tools: 'git', when: { force: true } }],
    });
    const session = registry.createSession({ sessionId: 's', profile: 'p' });
    expect(session.tool('git')).toMatchObject({ version: '1.0.0', requiresApproval: true });
    expect((await session.call('git', { force: true })).error?.code).toBe('policy_denied');
    expect(session.metrics().byTool).toHaveProperty('git');
  });
});
