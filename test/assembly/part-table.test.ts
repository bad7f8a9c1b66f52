/** The table of parts, by which an absent part is named. */
import { describe, expect, test } from 'vitest';
import { partOf, partTable } from '../../src/assembly/part-table.ts';
import { registryStateOf } from '../../src/core/registry/state-of.ts';
import { HostToolRegistry } from '../../src/index.ts';
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
  test.each(['registry', 'session', 'profile', 'profileTool'] as const)(
    'its options of a %s are in its row',
    (place) => {
      expect([...(rowOf(name)?.[place] ?? [])].sort()).toEqual(
        Object.keys(spec.options?.[place] ?? {}).sort(),
      );
    },
  );

  test('its marks are in its row', () => {
    expect(rowOf(name)?.marks ?? []).toEqual(Object.keys(spec.marks ?? {}));
  });
});

test('each method that parts have is in a row, and the other way round', () => {
  expect(partTable.flatMap(({ registryMethods = [] }) => registryMethods).sort()).toEqual(
    [...ports.methods.keys()].sort(),
  );
  expect(partTable.flatMap(({ sessionMethods = [] }) => sessionMethods).sort()).toEqual(
    [...ports.sessions.methods.keys()].sort(),
  );
});

test.each(['schemas', 'tests', 'ruleKeys'] as const)(
  'each of the %s that parts have is in a row, and the other way round',
  (place) => {
    expect(partTable.flatMap((row) => row[place] ?? []).sort()).toEqual(
      parts.specs.flatMap((spec) => Object.keys(spec[place] ?? {})).sort(),
    );
  },
);

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
