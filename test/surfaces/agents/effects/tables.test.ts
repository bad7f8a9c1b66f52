/** Every entry of the tables has its effect, also when options hide its words. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  dataEffects,
  gitEffects,
  systemEffects,
} from '../../../../src/surfaces/agents/effects/local-effects.ts';
import { effectsOf } from '../../../../src/surfaces/agents/effects/match.ts';
import {
  networkEffects,
  packageEffects,
} from '../../../../src/surfaces/agents/effects/remote-effects.ts';

interface Entry {
  readonly does: string;
  readonly program: string;
  readonly words: readonly string[];
}

/** One command for each program and each reading of each word of a pattern. */
function commandsOf(does: string, pattern: string): readonly Entry[] {
  const [programs = '', ...rest] = pattern.trim().split(/\s+/);
  const known = rest.filter((word) => word !== '0' && !word.startsWith('!'));
  const readings = known.map((word) =>
    word
      .replace(/^=/, '')
      .split('|')
      .map((one) => one.replace(/^\+$/, 'x').replaceAll('*', 'x').replaceAll('?', '0')),
  );
  const usual = readings.map(([first = '']) => first);
  const all = readings.flatMap((ones, at) => ones.map((one) => usual.with(at, one)));
  return programs
    .split('|')
    .flatMap((program) =>
      (all.length === 0 ? [[]] : all).map((words) => ({ does, program, words })),
    );
}

const tables = { dataEffects, gitEffects, networkEffects, packageEffects, systemEffects };
const entries = Object.values(tables)
  .flat()
  .flatMap(([does, , patterns]) =>
    patterns.split(/[;\n]/).flatMap((pattern) => commandsOf(does, pattern)),
  );
const effects = entries.filter(({ does }) => does !== 'harmless');

const found = (program: string, words: readonly string[]): readonly string[] =>
  effectsOf(program, words).map(({ does }) => does);

describe.each(Object.entries(tables))('%s', (_, rows) => {
  test.each(rows)('%s: a command that %s', (does, because, patterns) => {
    for (const pattern of patterns.split(/[;\n]/))
      for (const { program, words } of commandsOf(does, pattern)) {
        const named = effectsOf(program, words);
        const command = `${program} ${words.join(' ')}`;
        if (does === 'harmless') expect([command, named]).toEqual([command, []]);
        // A pattern with few words may also fit a harmless command.
        else
          expect([command, named.map((one) => one.because)]).toEqual([
            command,
            expect.arrayContaining([because]),
          ]);
      }
  });
});

test('options that the table does not know do not hide an effect', () => {
  const option = fc.constantFrom('--unknown', '-z', '--unknown=x');
  fc.assert(
    fc.property(
      fc.constantFrom(...effects),
      fc.nat(3),
      option,
      ({ does, program, words }, at, one) => {
        // `0` and `-` patterns ask for exact words.
        fc.pre(!/^(?:set|env)$/.test(program) && words.length > 0);
        expect(found(program, [...words.slice(0, at), one, ...words.slice(at)])).toContain(does);
      },
    ),
  );
});

test('a value of an unknown option does not hide the words after it', () => {
  fc.assert(
    fc.property(fc.constantFrom(...effects), ({ does, program, words }) => {
      fc.pre(words.length > 0 && !words.some((word) => word.startsWith('-')));
      expect(found(program, ['--unknown', 'value', ...words])).toContain(does);
    }),
  );
});

test('a harmless command must not be in doubt', () => {
  expect(found('gh', ['pr', 'view', '1'])).toEqual([]);
  expect(found('gh', ['--unknown', 'pr', 'view', '1'])).toContain('publishes');
  expect(found('gh', ['pr', '--unknown', 'view', 'merge'])).toContain('publishes');
});

test.each([
  ['python3', ['-m', 'twine', 'upload', 'x'], 'publishes'],
  ['python3.12', ['-I', '-mtwine', 'upload'], 'publishes'],
  ['cargo', ['+nightly', 'publish'], 'publishes'],
  ['yarn', ['npm', 'publish'], 'publishes'],
  ['yarn', ['workspaces', 'foreach', '-A', 'npm', 'publish'], 'publishes'],
  ['poetry', ['run', 'twine', 'upload', 'x'], 'publishes'],
  ['pnpm', ['-r', 'prisma', 'migrate', 'reset'], 'destroys-data'],
  ['python', ['-W', 'ignore', 'manage.py', 'flush'], 'destroys-data'],
  ['terraform', ['-chdir=x', 'destroy'], 'destroys-data'],
  ['terraform1.5', ['destroy'], 'destroys-data'],
  ['redis-cli', ['-n', '1', 'FLUSHALL'], 'destroys-data'],
  ['git', ['reset', '-q', '--har'], 'loses-work'],
  ['git', ['branch', '-d', '-f', 'x'], 'loses-work'],
])('%s %j', (program, words, does) => {
  expect(found(program, words)).toContain(does);
});
