/**
 * Changes of tools in the logs: names, folded to what they come to, told with the definitions of
 * the moment.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  describeUpdate,
  foldUpdates,
  isEmptyChange,
  shownDefinition,
  toToolsRecord,
} from '../../../../src/surfaces/relay/events/tool-updates.ts';
import type { ToolsDocument, ToolsRecord } from '../../../../src/surfaces/relay/ports/documents.ts';

const record = (more: Partial<ToolsRecord> = {}): ToolsRecord => ({
  kind: 'tools',
  added: [],
  removed: [],
  modified: [],
  reason: 'update',
  at: 1_000,
  ...more,
});
const definition = (name: string) => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: 'object' },
});
const document = (...names: string[]): ToolsDocument => ({
  revision: 1,
  pluginType: 'codap',
  pluginVersion: '1',
  capabilities: [],
  environment: {},
  definitions: names.map(definition),
  registeredAt: 0,
  updatedAt: 0,
});

describe('a record', () => {
  test('names what changed, why and when', () => {
    expect(
      toToolsRecord({ added: ['a'], removed: ['b'], modified: ['c'] }, 'plugin-registration', 5),
    ).toEqual(
      record({
        added: ['a'],
        removed: ['b'],
        modified: ['c'],
        reason: 'plugin-registration',
        at: 5,
      }),
    );
  });

  test('with more than 64 KB of names says that all tools must be read again', () => {
    const names = (count: number): string[] => Array.from({ length: count }, () => 'é'.repeat(512));
    expect(
      toToolsRecord({ added: names(32), removed: names(31), modified: names(1) }, 'x', 5).all,
    ).toBeUndefined();
    expect(
      toToolsRecord({ added: names(32), removed: names(32), modified: ['a'] }, 'x', 5),
    ).toEqual(record({ reason: 'x', at: 5, all: true }));
  });

  test('is empty if it names no tool', () => {
    expect(isEmptyChange(record())).toBe(true);
    for (const change of [{ added: ['a'] }, { removed: ['a'] }, { modified: ['a'] }])
      expect(isEmptyChange(record(change))).toBe(false);
  });
});

describe('consecutive changes become', () => {
  const added = record({ added: ['a'] });
  const removed = record({ removed: ['a'] });
  const modified = record({ modified: ['a'] });
  test.each<[string, readonly ToolsRecord[], ToolsRecord]>([
    ['nothing: added, removed', [added, removed], record()],
    ['nothing: added, modified, removed', [added, modified, removed], record()],
    ['an addition: added, modified', [added, modified], added],
    ['an addition: added, removed, added', [added, removed, added], added],
    ['a modification: removed, added', [removed, added], modified],
    ['a modification: removed, added, modified', [removed, added, modified], modified],
    ['a removal: modified, removed', [modified, removed], removed],
    ['a removal: removed, added, removed', [removed, added, removed], removed],
    [
      'itself: one',
      [record({ added: ['a'], removed: ['b'], modified: ['c'] })],
      record({ added: ['a'], removed: ['b'], modified: ['c'] }),
    ],
    ['all: one of them is', [added, record({ all: true }), removed], record({ all: true })],
  ])('%s', (_, records, expected) => {
    expect(foldUpdates(records)).toEqual(expected);
  });

  test('a change with the reason and the time of the last one', () => {
    expect(
      foldUpdates([record({ added: ['a'] }), record({ added: ['b'], reason: 'late', at: 9 })]),
    ).toEqual(record({ added: ['a', 'b'], reason: 'late', at: 9 }));
  });

  test('a change of all tools if their names are too many', () => {
    const names = (letter: string): string[] =>
      Array.from({ length: 100 }, (_, index) => `${letter}${index}`.padEnd(400, letter));
    expect(foldUpdates([record({ added: names('a') }), record({ added: names('b') })]).all).toBe(
      true,
    );
  });

  test('the change that they make to a set one after another', () => {
    // Each name with a version: what came anew or was modified has another one.
    const name = fc.constantFrom('a', 'b', 'c', 'd');
    const steps = fc.array(fc.array(fc.tuple(name, fc.boolean()), { maxLength: 4 }), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(fc.uniqueArray(name), steps, fc.nat(), (start, rows, cut) => {
        const before = new Map(start.map((one) => [one, 0]));
        const now = new Map(before);
        let version = 0;
        const records = rows.map((row) => {
          const old = new Map(now);
          for (const [one, leaves] of row) {
            if (leaves) now.delete(one);
            else now.set(one, ++version);
          }
          return differenceOf(old, now);
        });
        const truth = differenceOf(before, now);
        expect(sorted(foldUpdates(records))).toEqual(sorted(truth));
        // Folding some first is folding all.
        const at = cut % records.length;
        expect(
          sorted(foldUpdates([foldUpdates(records.slice(0, at + 1)), ...records.slice(at + 1)])),
        ).toEqual(sorted(truth));
      }),
    );
  });
});

function differenceOf(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): ToolsRecord {
  return record({
    added: [...after.keys()].filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !after.has(name)),
    modified: [...after.keys()].filter(
      (name) => before.has(name) && before.get(name) !== after.get(name),
    ),
  });
}

function sorted({ added, removed, modified }: ToolsRecord): object {
  return { added: [...added].sort(), removed: [...removed].sort(), modified: [...modified].sort() };
}

describe('an event', () => {
  test('has the current definitions, and the names of removed tools', () => {
    expect(
      describeUpdate(
        'ABCD2345',
        record({ added: ['a'], removed: ['b'], modified: ['c'], at: 0 }),
        document('a', 'c', 'd'),
      ),
    ).toEqual({
      sessionCode: 'ABCD2345',
      updates: { added: [definition('a')], removed: ['b'], modified: [definition('c')] },
      timestamp: '1970-01-01T00:00:00.000Z',
      reason: 'update',
    });
  });

  test('leaves out tools that were removed since', () => {
    expect(
      describeUpdate(
        'ABCD2345',
        record({ added: ['a', 'constructor'], modified: ['c'] }),
        document('c'),
      ).updates,
    ).toEqual({
      added: [],
      removed: [],
      modified: [definition('c')],
    });
    expect(describeUpdate('ABCD2345', record({ added: ['a'] }), undefined).updates).toEqual({
      added: [],
      removed: [],
      modified: [],
    });
  });

  test('for a change of all tools has all tools', () => {
    expect(describeUpdate('ABCD2345', record({ all: true }), document('a', 'b'))).toMatchObject({
      updates: { added: [definition('a'), definition('b')], removed: [], modified: [] },
      resync: true,
    });
  });

  test('shows the parts of a definition that gates see', () => {
    const full = { ...definition('a'), title: 'A', outputSchema: { type: 'string' } };
    expect(
      shownDefinition({
        ...full,
        annotations: { destructive: true, idempotent: true },
        patternSize: 5,
      }),
    ).toEqual({
      ...full,
      annotations: { destructive: true },
    });
    expect(shownDefinition({ ...definition('a'), annotations: { idempotent: true } })).toEqual(
      definition('a'),
    );
  });
});
