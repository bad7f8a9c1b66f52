/** Quotas in files and in the profiles of files. */
import { describe, expect, test } from 'vitest';
import { HostToolRegistry, type ToolResult } from '../../../src/index.ts';
import {
  loadHostTools,
  loadHostToolsModule,
  watchHostTools,
} from '../../../src/surfaces/config/index.ts';
import { folder } from './folder.ts';
import { moduleText } from './modules.ts';

const handlers = 'export const pay = () => "paid";';
const pay = { name: 'pay', description: 'Pays.', module: './handlers.mjs' };
const spent = { id: 'spent', tools: 'pay', sum: 'amount', max: 100, per: 'day', by: 'registry' };

const reasonOf = ({ error, output }: ToolResult): unknown => error?.reason ?? output;

function call(registry: HostToolRegistry, amount: number, options: object = {}): Promise<unknown> {
  const session = registry.createSession({ sessionId: 's', ...options });
  return session.call('pay', { amount }).then(reasonOf);
}

describe('quotas of a file', () => {
  test('hold for every session, in YAML too', async () => {
    const { at } = folder({
      'a.yaml': `
tools:
  - { name: pay, description: Pays., module: ./handlers.mjs }
profiles:
  small:
    tools: [pay]
    quotas:
      - { id: each, max: 2, per: { ms: 60000 }, by: { path: to }, when: { amount: { in: [1, 2] } } }
quotas:
  - id: spent
    tools: [pay]
    sum: amount
    max: 99.5
    per: hour
    by: principal
    over: deny
    reason: too_much
`,
      'handlers.mjs': handlers,
    });
    const registry = new HostToolRegistry();
    const report = await loadHostTools(at('a.yaml'), registry);
    expect(report).toMatchObject({ failed: [], loaded: ['pay'], quotas: ['spent'], rules: 0 });
    expect([await call(registry, 99), await call(registry, 1)]).toEqual(['paid', 'too_much']);
    expect(await call(registry, 1, { profile: 'small' })).toBe('quota_unreadable');
  });

  test('a report of a file without quotas does not name any', async () => {
    const { at } = folder({ 'a.json': { tools: [pay] }, 'handlers.mjs': handlers });
    expect(await loadHostTools(at('a.json'), new HostToolRegistry())).not.toHaveProperty('quotas');
  });

  test.each<[string, object, RegExp]>([
    ['no max', { ...spent, max: undefined }, /`max`/],
    ['a negative max', { ...spent, max: -1 }, /`max`/],
    ['an unknown key', { ...spent, maximum: 1 }, /unknown key `maximum`/],
    [
      'per week',
      { ...spent, per: 'week' },
      /`per`: expected minute, hour, day, session or \{ ms: … \}, such as \{ ms: /,
    ],
    [
      'by user',
      { ...spent, by: 'user' },
      /`by`: expected session, principal, registry, { path } or a list of several of them/,
    ],
    ['a path with a hole', { ...spent, sum: 'a..b' }, /`sum`/],
    ['per session by registry', { ...spent, per: 'session' }, /`by` to be `session`/],
    ['a test that is none', { ...spent, when: { a: { like: 1 } } }, /`when.a`: unknown key `like`/],
  ])('%s: nothing of the file loads', async (_, quota, reason) => {
    const { at } = folder({
      'a.json': { tools: [pay], quotas: [{ ...spent, id: 'other' }, quota] },
      'handlers.mjs': `globalThis.hostToolsQuotaRan = true; ${handlers}`,
    });
    const registry = new HostToolRegistry();
    const report = await loadHostTools(at('a.json'), registry);
    expect(report).toMatchObject({ loaded: [], rules: 0 });
    expect(report.failed).toMatchObject([
      {
        section: 'quotas',
        index: 1,
        name: 'spent',
        line: expect.any(Number),
        reason: expect.stringMatching(reason),
      },
    ]);
    expect(registry.count).toBe(0);
  });

  test('an id that another quota of the file or the registry has is a fault', async () => {
    const { at } = folder({
      'a.json': { tools: [pay], quotas: [spent, spent] },
      'b.json': { quotas: [spent] },
      'handlers.mjs': handlers,
    });
    const registry = new HostToolRegistry();
    expect((await loadHostTools(at('a.json'), registry)).failed).toMatchObject([
      { section: 'quotas', index: 1, reason: expect.stringContaining('no other quota') },
    ]);
    registry.addQuotas([{ ...spent, per: 'day', by: 'registry' }]);
    expect((await loadHostTools(at('b.json'), registry)).failed).toMatchObject([
      { section: 'quotas', index: 0 },
    ]);
  });
});

describe('loading a file again', () => {
  test('replaces its quotas, and what was spent counts on', async () => {
    const { at, write } = folder({
      'a.json': { tools: [pay], quotas: [spent] },
      'handlers.mjs': handlers,
    });
    const registry = new HostToolRegistry();
    await loadHostTools(at('a.json'), registry);
    expect(await call(registry, 80)).toBe('paid');
    write({ 'a.json': { tools: [pay], quotas: [{ ...spent, max: 200 }] } });
    await loadHostTools(at('a.json'), registry);
    expect([await call(registry, 100), await call(registry, 21)]).toEqual([
      'paid',
      'quota_exceeded',
    ]);
    write({ 'a.json': { tools: [pay] } });
    await loadHostTools(at('a.json'), registry);
    expect(await call(registry, 1_000)).toBe('paid');
  });

  test('a broken quota leaves what the file had loaded before', async () => {
    const { at, write } = folder({
      'a.json': { tools: [pay], quotas: [spent] },
      'handlers.mjs': handlers,
    });
    const registry = new HostToolRegistry();
    await loadHostTools(at('a.json'), registry);
    write({ 'a.json': { tools: [pay], quotas: [{ ...spent, max: 'all' }] } });
    await loadHostTools(at('a.json'), registry);
    expect(await call(registry, 101)).toBe('quota_exceeded');
  });

  test('an edit that fails puts the old quotas back', async () => {
    const { at, replace } = folder({
      'a.json': { tools: [pay], quotas: [spent], profiles: { base: { tools: ['pay'] } } },
      'handlers.mjs': handlers,
    });
    const registry = new HostToolRegistry();
    const errors: unknown[] = [];
    const watch = await watchHostTools(at('a.json'), registry, {
      onError: (error) => void errors.push(error),
    });
    registry.defineProfile({ id: 'heir', extends: 'base', tools: [] });
    // The profile that another one extends cannot go, which is known only when it is applied.
    replace('a.json', { tools: [pay], quotas: [{ ...spent, max: 500 }] });
    await expect.poll(() => errors.length).toBeGreaterThan(0);
    expect(await call(registry, 101)).toBe('quota_exceeded');
    await watch.close();
  });
});

test('quotas that a module adds are undone with the rest of it', async () => {
  const { at } = folder({
    'a.mjs': moduleText(`export default (registry) => {
      registry.register(tool('pay'));
      registry.addQuotas([${JSON.stringify(spent)}]);
      throw new Error('no');
    };`),
  });
  const registry = new HostToolRegistry();
  await expect(loadHostToolsModule(at('a.mjs'), registry)).rejects.toThrow();
  expect(() => registry.addQuotas([{ ...spent, per: 'day', by: 'registry' }])).not.toThrow();
});
