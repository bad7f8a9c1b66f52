/** The table of parts, by which an absent part is named. */
import { describe, expect, test } from 'vitest';
import { partOf, partTable } from '../../src/assembly/part-table.ts';
import { PartSet } from '../../src/core/part.ts';
import { Registry } from '../../src/core/registry/registry.ts';
import { registryStateOf } from '../../src/core/registry/state-of.ts';
import { HostToolRegistry, type Rule } from '../../src/index.ts';
import { quotas } from '../../src/parts/quotas/part.ts';
import { createModule } from '../../src/surfaces/amplifier/index.ts';
import { createTestSession } from '../../src/surfaces/testing/index.ts';

const { parts, ports } = registryStateOf(new HostToolRegistry());
const rowOf = (part: string) => partTable.find((row) => row.part === part);

test('the table has each part of the full registry, once', () => {
  expect(partTable.map(({ part }) => part).sort()).toEqual(
    parts.specs.map(({ name }) => name).sort(),
  );
});

describe.each(parts.specs.map((spec) => [spec.name, spec] as const))('%s', (name, spec) => {
  test.each(['registry', 'session', 'profile'] as const)(
    'its options of a %s are in its row',
    (place) => {
      expect([...(rowOf(name)?.[place] ?? [])].sort()).toEqual(
        Object.keys(spec.options?.[place] ?? {}).sort(),
      );
    },
  );
});

test('each method that parts have is in a row, and the other way round', () => {
  expect(partTable.flatMap(({ registryMethods = [] }) => registryMethods).sort()).toEqual(
    [...ports.registryMethods.keys()].sort(),
  );
  expect(partTable.flatMap(({ sessionMethods = [] }) => sessionMethods).sort()).toEqual(
    [...ports.sessionMethods.keys()].sort(),
  );
});

test('each test of a rule that parts have is in a row, and the other way round', () => {
  expect(partTable.flatMap(({ tests = [] }) => tests).sort()).toEqual(
    parts.specs.flatMap(({ tests = {} }) => Object.keys(tests)).sort(),
  );
});

describe.each(partTable)('without $part', (row) => {
  const { part, subpath, tests = [] } = row;
  const none = new PartSet([], partOf);
  const refused = expect.objectContaining({
    code: 'missing_part',
    part,
    message: expect.stringContaining(
      `Write \`import { ${part} } from 'host-tools/${subpath}'\`, and give the registry ` +
        `\`parts: [${part}()]\`.`,
    ),
  });
  const registry = new Registry({}, none);

  test('its options and methods are refused', () => {
    const session = registry.createSession({ sessionId: 's' });
    const call = (object: object, name: string) => () =>
      (object as Record<string, () => unknown>)[name]?.();
    for (const use of [
      ...(row.registry ?? []).map((name) => () => new Registry({ [name]: undefined }, none)),
      ...(row.session ?? []).map(
        (name) => () => registry.createSession({ sessionId: 's', [name]: undefined }),
      ),
      ...(row.profile ?? []).map(
        (name) => () => registry.defineProfile({ id: 'p', tools: [], [name]: null }),
      ),
      ...(row.registryMethods ?? []).map((name) => call(registry, name)),
      ...(row.sessionMethods ?? []).map((name) => call(session, name)),
    ])
      expect(use).toThrow(refused);
  });

  test('its tests are refused in every place of rules', () => {
    for (const name of tests) {
      const inWhen: Rule = { effect: 'deny', when: { a: { not: { [name]: 'x' } } } };
      const inFacts: Rule = { effect: 'allow', facts: { a: { any: [{ [name]: 'x' }] } } };
      for (const rules of [[inWhen], [inFacts]])
        for (const place of [
          () => new Registry({ rules }, none),
          () => registry.addRules(rules),
          () => registry.scope('plugin', { rules }),
          () => registry.defineProfile({ id: 'p', tools: [], rules }),
          () => registry.createSession({ sessionId: 's', rules }),
        ])
          expect(place).toThrow(refused);
    }
  });

  test('its tests are refused in quotas', () => {
    for (const name of tests) {
      const list = [
        { id: 'q', max: 1, per: 'hour', by: 'session', when: { a: { [name]: 'x' } } } as const,
      ];
      const only = new PartSet([quotas()], partOf);
      expect(() => new Registry({ quotas: list }, only)).toThrow(refused);
      expect(() => new Registry({}, only).createSession({ sessionId: 's', quotas: list })).toThrow(
        refused,
      );
    }
  });
});

test('an absent part is named with the line to add', () => {
  expect(partOf('registry', 'quotas')).toEqual({
    part: 'quotas',
    importLine: "import { quotas } from 'host-tools/quotas'",
  });
  expect(partOf('registry', 'rules')).toBeUndefined();
});

test('functions that take the options of a session among their own take those of parts', () => {
  for (const { registry = [], session = [] } of partTable) {
    for (const name of [...registry, ...session]) createTestSession({ [name]: undefined });
    for (const name of session) createModule([], { [name]: undefined });
  }
});
