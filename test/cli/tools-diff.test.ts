import { expect, test } from 'vitest';
import { folder } from '../surfaces/config/folder.ts';
import { cli } from './cli-run.ts';

const file = (tools: object[]) => ({
  tools: tools.map((tool) => ({ description: 'Does.', module: './m.mjs', ...tool })),
});
const text = (maxLength: number) => ({
  type: 'object',
  properties: { q: { type: 'string', maxLength } },
});

test('tools diff shows the changes, and exits with 1 if a caller could notice one', async () => {
  const { path } = folder({
    'm.mjs': 'export default () => null;',
    'old.json': file([
      { name: 'find', version: '1.0.0', parameters: text(5) },
      { name: 'gone' },
      { name: 'same' },
    ]),
    'new.json': file([
      { name: 'find', version: '1.1.0', parameters: text(9) },
      { name: 'same' },
      { name: 'fresh' },
    ]),
    'wider.json': file([
      { name: 'find', version: '1.1.0', parameters: text(9) },
      { name: 'gone' },
      { name: 'same' },
    ]),
  });
  const run = (...argv: string[]) => cli(['tools', 'diff', ...argv], { cwd: path });
  expect(await run('old.json', 'new.json')).toMatchObject({
    exit: 1,
    stdout: [
      'find 1.0.0 → 1.1.0: compatible',
      '  + parameters.properties.q `maxLength` was 5 and is 9',
      'gone: not compatible',
      '  ! name is gone',
      'fresh: compatible',
      '  + name is new',
      '',
    ].join('\n'),
  });
  expect((await run('old.json', 'wider.json')).exit).toBe(0);
  expect(await run('old.json', 'old.json')).toMatchObject({
    exit: 0,
    stdout: 'The tools are the same.\n',
  });
  const { stdout } = await run('old.json', 'wider.json', '--json');
  expect(JSON.parse(stdout)).toMatchObject({
    compatible: true,
    tools: [{ name: 'find', from: '1.0.0', to: '1.1.0' }, { name: 'gone' }, { name: 'same' }],
  });
  const lost = await run('old.json', 'lost.json');
  expect([lost.exit, lost.stderr.includes('lost.json')]).toEqual([1, true]);
});
