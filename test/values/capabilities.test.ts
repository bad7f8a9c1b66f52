import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { negotiate } from '../../src/index.ts';
import { capabilityFacts } from '../../src/values/capabilities.ts';

describe('negotiate', () => {
  it('says what is needed and not offered', () => {
    expect(negotiate(['a', 'b', 'a', 'c'], ['b'])).toEqual({ ok: false, missing: ['a', 'c'] });
    expect(negotiate([], {})).toEqual({ ok: true, missing: [] });
    const offered = { sampling: {}, elicitation: { form: {}, url: false }, level: 0, 'x.y': true };
    expect(negotiate(['sampling', 'elicitation.form', 'level', 'x.y'], offered).ok).toBe(true);
    expect(negotiate(['elicitation.url', 'elicitation.form.z', 'roots'], offered).missing).toEqual([
      'elicitation.url',
      'elicitation.form.z',
      'roots',
    ]);
  });

  it('counts only own members', () => {
    expect(negotiate(['toString', 'a.constructor'], { a: {} }).ok).toBe(false);
  });

  it('refuses what it cannot compare', () => {
    expect(() => negotiate('a' as never, {})).toThrow(
      'negotiate: expected `needs` to be an array of names, got `a` (string).',
    );
    expect(() => negotiate([''], {})).toThrow('non-empty strings');
    expect(() => negotiate([], null as never)).toThrow('an object or an array of names');
  });
});

describe('facts of capabilities', () => {
  it('are true, or the level that is declared', () => {
    expect(
      capabilityFacts('client.capabilities.', {
        sampling: {},
        roots: { listChanged: true },
        level: 'high',
        n: 2,
        off: false,
        none: null,
      }),
    ).toEqual({
      'client.capabilities.sampling': true,
      'client.capabilities.roots': true,
      'client.capabilities.roots.listChanged': true,
      'client.capabilities.level': 'high',
      'client.capabilities.n': 2,
    });
    for (const odd of [undefined, null, 'x', 1, ['a']])
      expect(capabilityFacts('p.', odd)).toEqual({});
  });

  it('begin with the outermost, so that a long list of one capability hides no other', () => {
    const experimental = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`e${n}`, {}]));
    const facts = capabilityFacts('p.', { experimental, sampling: {}, elicitation: { form: {} } });
    expect(Object.keys(facts).slice(0, 4)).toEqual([
      'p.experimental',
      'p.sampling',
      'p.elicitation',
      'p.experimental.e0',
    ]);
    expect(Object.keys(facts)).toHaveLength(64);
  });

  it('never leave their prefix, and are few and short', () => {
    fc.assert(
      fc.property(fc.object({ maxDepth: 6, maxKeys: 100 }), (declared) => {
        const facts = Object.entries(capabilityFacts('p.', declared));
        expect(facts.length).toBeLessThanOrEqual(64);
        for (const [key, value] of facts) {
          expect(key).toMatch(/^p\.[A-Za-z0-9_/:.-]{1,128}$/);
          expect(['string', 'number', 'boolean']).toContain(typeof value);
        }
      }),
    );
  });
});
