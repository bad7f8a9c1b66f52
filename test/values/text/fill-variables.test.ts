import { expect, test } from 'vitest';
import { fillVariables } from '../../../src/values/text/fill-variables.ts';

const name = (text: string) => `\${${text}}`;

test('each variable is filled in, and its value is reported', () => {
  expect(
    fillVariables(
      { TOKEN: `Bearer ${name('A')}`, BOTH: `${name('A')}-${name('B')}`, PLAIN: '$A $' },
      { A: 'one', B: 'two', C: 'three' },
    ),
  ).toEqual({
    values: { TOKEN: 'Bearer one', BOTH: 'one-two', PLAIN: '$A $' },
    missing: [],
    used: ['one', 'two'],
  });
});

test('a value is not filled in again', () => {
  const { values } = fillVariables({ X: name('A') }, { A: name('B'), B: 'secret' });
  expect(values).toEqual({ X: name('B') });
});

test('variables that are missing are named once; inherited ones are missing', () => {
  const { missing } = fillVariables(
    { X: name('A') + name('A'), Y: name('toString'), Z: name('B') },
    { A: undefined, B: '' },
  );
  expect(missing).toEqual(['A', 'toString']);
});
