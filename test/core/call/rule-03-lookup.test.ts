import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { Surface } from '../../../src/index.ts';
import { define, setup } from './define.ts';

describe('an unknown name is tool_not_found', () => {
  test(
    'a flood of made-up names is answered, and at most a hundred a second are searched for what ' +
      'was meant',
    async () => {
      const { session } = setup([define('read_file')]);
      const results = await Promise.all(
        Array.from({ length: 1_000 }, (_, index) => session.call(`read_fil${index % 10}`, {})),
      );
      expect(results.every(({ error }) => error?.code === 'tool_not_found')).toBe(true);
      const hinted = results.filter(({ error }) => error?.details !== undefined).length;
      expect(hinted).toBeGreaterThanOrEqual(100);
      expect(hinted).toBeLessThan(1_000);
    },
  );

  test('with “did you mean” among the names that are visible in this session only', async () => {
    const { session, registry } = setup(
      [
        define('read_file'),
        define('read_files', { requires: [{ fact: 'f', equals: 1 }] }),
        define('read_fil', { exposure: 'internal' }),
        define('secret_read_file'),
      ],
      { rules: [{ effect: 'deny', tools: 'secret_*' }] },
    );
    const other = registry.createSession({ sessionId: 'other' });
    other.register(define('read_filx'));
    const result = await session.call('read-fle', {});
    expect(result).toMatchObject({
      error: {
        code: 'tool_not_found',
        retryable: false,
        details: { didYouMean: ['read_file'] },
        message: expect.stringContaining('Did you mean `read_file`?'),
      },
      metadata: { status: 'rejected' },
    });
  });

  test('without a hint where nothing is near', async () => {
    const { session } = setup([define('read_file')]);
    const { error } = await session.call('zzz');
    expect(error).toEqual({
      code: 'tool_not_found',
      message: 'There is no tool `zzz`.',
      retryable: false,
    });
  });

  test('a tool of another session is unknown, even under an equal session id', async () => {
    const { session, registry } = setup([]);
    const twin = registry.createSession({ sessionId: 's' });
    twin.register(define('mine'));
    expect(await twin.call('mine')).toMatchObject({ success: true });
    expect(await session.call('mine')).toMatchObject({ error: { code: 'tool_not_found' } });
    expect((await session.call('minx')).error?.details).toBeUndefined();
  });

  test('an internal tool does not exist by name, but through `uses`', async () => {
    const { session } = setup([
      define('inner', { exposure: 'internal' }),
      define('outer', {
        uses: ['inner'],
        handler: (_: unknown, { tools }: { tools: { call(name: string): unknown } }) =>
          tools.call('inner'),
      }),
    ]);
    expect(session.tools().map(({ name }) => name)).toEqual(['outer']);
    expect(session.tool('inner')).toBeUndefined();
    expect(await session.call('inner')).toMatchObject({ error: { code: 'tool_not_found' } });
    expect(await session.call('outer')).toMatchObject({ output: { success: true, output: 'ran' } });
  });

  test(
    'a removed tool is not available to a session that was there before; to one that comes ' +
      'later, and to outsiders, it never was',
    async () => {
      const { session, registry } = setup([define('t')]);
      const tool = session.tool('t');
      registry.unregister('t');
      expect(await tool?.execute({})).toMatchObject({
        error: { code: 'tool_not_available', reason: 'removed' },
      });
      expect(await session.explain('t', {})).toMatchObject({
        visible: false,
        code: 'tool_not_available',
      });
      expect(
        await session.call('t', {}, { surface: { name: 'relay', outside: true } }),
      ).toMatchObject({ error: { code: 'tool_not_found' } });
      expect(await registry.createSession({ sessionId: 'later' }).call('t')).toMatchObject({
        error: { code: 'tool_not_found' },
      });
      registry.register(define('t'));
      expect(await session.call('t')).toMatchObject({ success: true });
    },
  );

  test('a removed tool of the session is reported as removed to outsiders too', async () => {
    const { session } = setup([]);
    session.register(define('own')).unregister();
    const outside = { surface: { name: 'relay', outside: true } };
    expect(await session.call('own', {}, outside)).toMatchObject({
      error: { code: 'tool_not_available', reason: 'removed' },
    });
  });

  test('a removed internal tool was never known by name', async () => {
    const { session, registry } = setup([define('inner', { exposure: 'internal' })]);
    registry.unregister('inner');
    expect(await session.call('inner')).toMatchObject({ error: { code: 'tool_not_found' } });
  });

  test.each<[string, string]>([
    ['control characters', 'a\u0000b\nc'],
    ['bidirectional marks', 'a\u202Eb'],
    ['back-quotes', '`rm`'],
    ['great length', 'x'.repeat(1_000_000)],
    ['lone surrogates', 'tool \ud800'],
    ['nothing', ''],
  ])('the message is one short line where the name has %s', async (_, name) => {
    const { session } = setup([define('quite_another')]);
    const { error } = await session.call(name);
    expect(error?.code).toBe('tool_not_found');
    expect(error?.message.length).toBeLessThan(200);
    expect(error?.message).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
    expect(error?.message.match(/`/g)).toHaveLength(2);
  });
});

describe('a known tool that is not available is tool_not_available, with the reason', () => {
  const world = () => {
    const made = setup([
      define('gated', { requires: [{ fact: 'host.status', in: ['ready', 'busy'] }] }),
      define('starter', { provides: ['host.status'] }),
      define('plain'),
      define('knobbed', { policy: { knobs: z.object({ depth: z.number() }) } }),
    ]);
    made.registry.defineProfile({ id: 'only_starter', tools: ['starter'] });
    return made;
  };

  test('a fact that does not hold, and the tool that would bring it about', async () => {
    const { session } = world();
    expect(await session.call('gated')).toMatchObject({
      error: {
        code: 'tool_not_available',
        reason: 'fact_unmet',
        retryable: true,
        details: { fact: 'host.status', unlockedBy: 'starter' },
        message: expect.stringContaining('Call `starter` first'),
      },
    });
    session.setFacts({ 'host.status': 'starting' });
    expect(await session.call('gated')).toMatchObject({ error: { reason: 'fact_unmet' } });
    session.setFacts({ 'host.status': 'busy' });
    expect(await session.call('gated')).toMatchObject({ success: true });
    session.setFacts({ 'host.status': null });
    expect(await session.call('gated')).toMatchObject({ error: { reason: 'fact_unmet' } });
  });

  test.each<[string, (world: ReturnType<typeof setup>) => unknown, string, string]>([
    [
      'disabled by an override',
      ({ session }) => session.setOverrides({ disable: ['plain'] }),
      'plain',
      'disabled',
    ],
    [
      'disabled, though forced',
      ({ session }) =>
        session.setOverrides({ disable: ['plain'], force: ['plain'], enable: ['plain'] }),
      'plain',
      'disabled',
    ],
    [
      'forced, though a fact is unmet',
      ({ session }) => session.setOverrides({ force: ['gated'] }),
      'gated',
      'fact_unmet',
    ],
    [
      'out of the profile',
      ({ session }) => session.setProfile('only_starter'),
      'plain',
      'not_in_profile',
    ],
    [
      'out of the profile, before its fact',
      ({ session }) => session.setProfile('only_starter'),
      'gated',
      'not_in_profile',
    ],
    ['knobs that refuse {}', () => undefined, 'knobbed', 'knobs_missing'],
  ])('%s', async (_, change, name, reason) => {
    const made = world();
    change(made);
    const handlers = vi.fn();
    expect(await made.session.call(name)).toMatchObject({
      error: { code: 'tool_not_available', reason, retryable: true },
      metadata: { status: 'rejected' },
    });
    expect(made.session.tools().some((tool) => tool.name === name)).toBe(false);
    expect(made.session.tool(name)).toBeUndefined();
    expect(
      made.session.effectiveTools().dropped.find((dropped) => dropped.name === name)?.code,
    ).toMatch(reason);
    expect(handlers).not.toHaveBeenCalled();
  });

  test.each([
    ['gated', 'fact_unmet'],
    ['knobbed', 'knobs_missing'],
  ])('for an outsider, too, where the profile has it: %s, %s', async (name, reason) => {
    const { session } = world();
    expect(await session.call(name, {}, { surface: { name: 'mcp', outside: true } })).toMatchObject(
      {
        error: { code: 'tool_not_available', reason },
        metadata: { fingerprint: expect.any(String) },
      },
    );
  });

  test('disabled by its registration, until it is enabled', async () => {
    const { session, registry } = setup([]);
    const registration = registry.register(define('t'));
    registration.disable();
    expect(await session.call('t')).toMatchObject({
      error: { code: 'tool_not_available', reason: 'disabled' },
    });
    registration.enable();
    expect(await session.call('t')).toMatchObject({ success: true });
  });

  test('an empty profile shows and runs nothing', async () => {
    const { session, registry } = world();
    registry.defineProfile({ id: 'none', tools: [] });
    session.setProfile('none');
    expect(session.tools()).toEqual([]);
    expect(await session.call('plain')).toMatchObject({ error: { reason: 'not_in_profile' } });
  });

  test(
    'for an outsider a tool out of the profile is tool_not_found, while events and explain keep ' +
      'the truth',
    async () => {
      const { session, events } = world();
      session.setProfile('only_starter');
      const surface: Surface = { name: 'mcp', outside: true };
      const result = await session.call('plain', {}, { surface });
      expect(result).toMatchObject({ error: { code: 'tool_not_found' } });
      expect(JSON.stringify(result.error)).not.toContain('profile');
      expect(events.find(({ type }) => type === 'tool:error')).toMatchObject({
        error: { code: 'tool_not_available', reason: 'not_in_profile' },
      });
      expect(await session.explain('plain')).toMatchObject({
        hiddenBy: 'not_in_profile',
        code: 'tool_not_available',
      });
      expect(await session.call('plain', {}, { surface: { name: 'mcp' } })).toMatchObject({
        error: { reason: 'not_in_profile' },
      });
    },
  );
});
