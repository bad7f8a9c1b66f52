import { expect, test } from 'vitest';
import { labelsBy, takesBy } from '../../../src/surfaces/gateway/server-wishes.ts';

test('a tool is taken if any glob matches the name that the server gives it', () => {
  const takes = takesBy({ command: 'x', tools: ['list_*', 'get?'] });
  expect(['list_all', 'get1', 'get', 'relist_'].map((name) => takes?.(name))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(takesBy({ command: 'x' })).toBeUndefined();
});

test('of labels that match, a later one counts, member by member', () => {
  const labels = labelsBy({
    command: 'x',
    labels: {
      '*': { annotations: { destructive: false, openWorld: true }, origin: 'untrusted' },
      'read_*': { annotations: { openWorld: false }, timeout: 2.5, roles: { a: 'free' } },
      read_file: { origin: 'trusted', roles: { 'b.c': 'target' } },
    },
  });
  expect(labels?.('write')).toMatchObject({
    annotations: { destructive: false, openWorld: true },
    origin: 'untrusted',
    timeoutMs: undefined,
  });
  expect(labels?.('read_file')).toEqual({
    annotations: { destructive: false, openWorld: false },
    origin: 'trusted',
    origins: undefined,
    roles: { a: 'free', 'b.c': 'target' },
    timeoutMs: 2_500,
    requiresApproval: undefined,
  });
});

test('labels are merged by what they mean, whichever names and units they have', () => {
  const labels = labelsBy({
    command: 'x',
    labels: {
      '*': { annotations: { destructive: true, readOnlyHint: false }, timeoutMs: 5_000 },
      'read_*': { annotations: { destructiveHint: false, readOnly: true }, timeout: '1.5 m' },
      read_later: { timeout: 2 },
    },
  });
  expect(labels?.('read_now')).toMatchObject({
    annotations: { destructive: false, readOnly: true },
    timeoutMs: 90_000,
  });
  expect(Object.keys(labels?.('read_now')?.annotations ?? {})).toHaveLength(2);
  expect(labels?.('read_later')?.timeoutMs).toBe(2_000);
  expect(labels?.('write')?.timeoutMs).toBe(5_000);
});

test('a tool that no label matches has none', () => {
  expect(labelsBy({ command: 'x', labels: { a: { origin: 'trusted' } } })?.('b')).toBeUndefined();
  expect(labelsBy({ command: 'x' })).toBeUndefined();
});
