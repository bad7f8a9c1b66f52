import { expect, test } from 'vitest';
import type { Call } from '../../../src/core/call/call.ts';
import { shownNameOf } from '../../../src/core/call/shown.ts';

const callBy = (surface: unknown): Call => ({ toolName: 'host/exec', surface }) as Call;
const thrower = (): never => {
  throw new Error('no');
};

test.each<[rule: string, surface: unknown, shown: string]>([
  [
    'in the words of the surface',
    { shownName: (name: string) => name.replace('/', '_') },
    'host_exec',
  ],
  ['by its own name without a surface', undefined, 'host/exec'],
  ['by its own name where the surface has no words for it', {}, 'host/exec'],
  ['by its own name where the surface answers nothing', { shownName: () => '' }, 'host/exec'],
  ['by its own name where the surface answers no text', { shownName: () => 7 }, 'host/exec'],
  ['by its own name where the surface throws', { shownName: thrower }, 'host/exec'],
  [
    'by its own name where the surface gives words that cannot be asked',
    { shownName: 'exec' },
    'host/exec',
  ],
])('a tool is shown of %s', (_, surface, shown) => {
  expect(shownNameOf(callBy(surface))).toBe(shown);
});

test('another tool than the one called is asked for by its name', () => {
  expect(shownNameOf(callBy({ shownName: (name: string) => `shown ${name}` }), 'other')).toBe(
    'shown other',
  );
});
