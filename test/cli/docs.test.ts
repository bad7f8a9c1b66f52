/** The page on the command line says what there is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { exitCodes } from '../../src/cli/fault.ts';
import { optionTable } from '../../src/cli/option-table.ts';
import { readPolicyTable } from '../../src/cli/policy-table.ts';
import { root } from './cli-run.ts';

const page = readFileSync(join(root, 'docs/command-line.md'), 'utf8');

test.each(commands.map((command) => [command.name, command] as const))(
  '`%s` has a section',
  (_, { name, operands, many = false }) => {
    expect(page).toContain(`\n## \`${[name, ...operands].join(' ')}${many ? '...' : ''}\`\n`);
  },
);

test.each(Object.keys(optionTable))('`--%s` has a row', (name) => {
  expect(page).toMatch(new RegExp(`^\\| \`--${name}[ \`]`, 'm'));
});

test('its exit codes are those of the command', () => {
  const [table = ''] = /\| exit code \| meaning \|\n\|---\|---\|\n(?:\|.*\n)+/.exec(page) ?? [];
  expect(table.trimEnd().split('\n').slice(2)).toEqual(
    Object.entries(exitCodes).map(([code, meaning]) => `| ${code} | ${meaning} |`),
  );
});

test('its policy table can be read', async () => {
  const [, table = ''] = /```yaml\n(tests:[^`]+)```/.exec(page) ?? [];
  expect((await readPolicyTable('docs/command-line.md', table)).map(({ tool }) => tool)).toEqual([
    'push',
    'push',
    'exec',
    'exec',
  ]);
});
