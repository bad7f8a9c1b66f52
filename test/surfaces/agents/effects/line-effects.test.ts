/** What questions say about a command line. */
import * as unbash from 'unbash';
import { describe, expect, test } from 'vitest';
import { lineFacts } from '../../../../src/surfaces/agents/effects/line-effects.ts';

const place = { cwd: '/work/app', project: '/work/app', home: '/home/ann' };
const facts = (line: string) => lineFacts(line, place, unbash);

test.each<[string, readonly string[]]>([
  ['cat .env', ['`cat .env` names `.env`, a file with secrets']],
  ['base64 < .env', ['the line names `.env`, a file with secrets']],
  ['[[ -f ../x ]]', ['the line names `../x`']],
  ['git push', ['`git push` sends work to another repository']],
])('%s', (line, because) => {
  expect(Object.values(facts(line).because).flat()).toEqual(because);
});

describe('a search in a file or a folder reads it, and does not change it', () => {
  test.each([
    'grep -n x .claude/settings.json',
    'grep -rn x .claude/settings.json',
    'grep --color=never x .claude/settings.json',
    'rg --hidden x .claude/settings.json',
    'rg -u x .claude/settings.json',
  ])('%s', (line) => {
    const { kinds, changes } = facts(line);
    expect([kinds.includes('guard'), changes]).toEqual([true, []]);
  });

  test.each(['rg --pre x y .claude/settings.json', 'sort -o .claude/settings.json x'])(
    '%s may change it',
    (line) => {
      expect(facts(line).changes).toContain('guard');
    },
  );
});
