/** Which test files `npm run test:quick` runs for a change. */
import { describe, expect, test } from 'vitest';
import { slow } from './order.ts';
import { foldersOf, quickFiles } from './quick-files.ts';

const outside = (file: string, isRelated = false) => ({ file, isOutside: true, isRelated });
const inside = (file: string, isRelated = false) => ({ file, isOutside: false, isRelated });

describe('a change in an adapter', () => {
  const runs = quickFiles(['src/surfaces/gemini/dispatch-gemini.ts']);

  test.each([
    ['the file of its tests, which imports it', outside('test/surfaces/gemini.test.ts', true)],
    ['the conformance suite, which imports it', outside('test/surfaces/surfaces.test.ts', true)],
    ['a test of its folder that starts a program', outside('test/surfaces/gemini/run.test.ts')],
    ['what reads texts of all sources', inside('test/architecture.test.ts')],
    ['what compares lists', inside('test/lists.test.ts')],
    ['what imports it', inside('test/surfaces/shared/names.test.ts', true)],
  ])('runs %s', (_, candidate) => {
    expect(runs(candidate)).toBe(true);
  });

  test.each([
    [
      'a file of another adapter, which does not import it',
      outside('test/surfaces/anthropic.test.ts'),
    ],
    ['commands, although they import it', outside('test/cli/call.test.ts', true)],
    ['what does not import it', inside('test/values/json/json.test.ts')],
    ['a heavy file of another folder', inside('test/core/rules/rules.test.ts', true)],
  ])('does not run %s', (_, candidate) => {
    expect(runs(candidate)).toBe(false);
  });
});

test.each([
  'ai-sdk',
  'anthropic',
  'claude-agent',
  'gemini',
  'langchain',
  'mcp',
  'openai',
  'shared',
])(
  'a change in %s runs the conformance suite of surfaces, which notices a lost error code',
  (folder) => {
    const runs = quickFiles([`src/surfaces/${folder}/any.ts`]);
    expect(runs(outside('test/surfaces/surfaces.test.ts', true))).toBe(true);
  },
);

test('a heavy file runs with a change in its folder; a slow one never does', () => {
  expect(
    quickFiles(['src/core/rules/rules.ts'])(inside('test/core/rules/rules.test.ts', true)),
  ).toBe(true);
  for (const file of slow.filter((name) => name !== 'test/docs.test.ts'))
    expect(quickFiles([file.replace(/\.test\.ts$/, '.ts')])(outside(file, true)), file).toBe(false);
});

test.each([
  ['src/cli/hook-run.ts', ['cli']],
  ['src/surfaces/policy-engines/opa/sdk.ts', ['surfaces/policy-engines']],
  ['test/surfaces/mcp/client/world.ts', ['surfaces/mcp']],
  ['src/values/http/body.ts', ['values/http', 'surfaces/mcp/server', 'surfaces/relay/server']],
  ['src/surfaces/agents/decide.ts', ['surfaces/agents', 'cli/hook']],
  [
    'src/surfaces/pages/browser/parts/words.ts',
    ['surfaces/pages', 'surfaces/inspector', 'surfaces/approvals'],
  ],
  ['rules/claude-code.yaml', ['cli/hook', 'docs']],
  ['docs/quotas.md', ['docs']],
  ['README.md', ['docs']],
  ['examples/demo.ts', ['examples']],
  ['src/index.ts', []],
  ['package.json', []],
])('the folders of %s', (path, folders) => {
  expect(foldersOf([path])).toEqual(folders);
});
