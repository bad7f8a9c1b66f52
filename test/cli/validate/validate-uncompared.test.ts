/** What `validate` says of rules that it cannot compare with tools, and of rules that do not load. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { validateFiles } from '../../../src/cli/validate/validate.ts';
import { cli } from '../cli-run.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'host-tools-uncompared-')));
afterAll(() => rmSync(folder, { recursive: true }));
const code = fileURLToPath(new URL('../fixtures/setup.mjs', import.meta.url));

async function validated(text: string, modules: readonly string[] = []) {
  writeFileSync(join(folder, 'a.yaml'), text);
  const { files } = await validateFiles(['a.yaml'], { cwd: folder, modules });
  const [{ passed, errors, warnings, checks }] = files as [(typeof files)[number]];
  const compared = checks.filter(({ name }) => name === 'rules_compared');
  return { passed, errors, warnings, compared: compared.map((one) => [one.passed, one.message]) };
}

const rule = 'rules: [{ id: a, effect: deny, tools: refund }]\n';
const quota = 'quotas: [{ id: q, tools: refund, max: 1, per: day, by: session }]\n';
const tool = '  - { name: refund, description: Pays back., external: true }\n';

describe('rules that were not compared with a tool', () => {
  test.each([
    ['a file of rules alone', rule, 'The file has no tools. .* `--host-tools-module MOD`'],
    ['a file of quotas alone', quota, 'The file has no tools'],
    [
      'a file of servers',
      `${rule}mcpServers: { s: { command: node } }\n`,
      'The servers of the file are not started here',
    ],
    [
      'rules of a profile about the tools of a server',
      'mcpServers: { s: { command: node } }\nprofiles: { p: { tools: [s.x], rules: [{ effect: ask }] } }\n',
      'The servers of the file are not started here',
    ],
  ])('%s: it passes, and says so', async (_, text, why) => {
    expect(await validated(text)).toEqual({
      passed: true,
      errors: [],
      warnings: [],
      compared: [[false, expect.stringMatching(`^It is not known whether .*${why}`)]],
    });
  });

  test.each([
    ['a tool of the file', `tools:\n${tool}${rule}`, [true]],
    ['nothing to compare', `tools:\n${tool}`, []],
  ])('%s: it does not say so', async (_, text, expected) => {
    const { compared } = await validated(text);
    expect(compared.map(([passed]) => passed)).toEqual(expected);
  });

  test('with the module of the tools, they are compared', async () => {
    const { compared, warnings } = await validated(rule, [code]);
    expect(compared.map(([passed]) => passed)).toEqual([true]);
    expect(warnings).toEqual([expect.stringMatching(/^rule_matches: .*`refund` matches no tool/)]);
  });

  test('the command prints it beside `passed`', async () => {
    writeFileSync(join(folder, 'rules.yaml'), rule);
    const { exit, stdout } = await cli(['validate', 'rules.yaml'], { cwd: folder });
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^ {2}info {2}rules_compared {2}.*`--host-tools-module MOD`\.$/m);
  });
});

describe('an entry that does not load is one error', () => {
  test.each([
    ['an effect', 'rules: [{ id: a, effect: dney, tools: refund }]\n'],
    ['a window', 'quotas: [{ id: q, tools: refund, max: 1, per: week, by: session }]\n'],
    ['a key', 'rules: [{ id: a, effect: deny, tols: refund }]\n'],
    ['a pattern', 'rules: [{ effect: deny, when: { a: { matches: "([" } } }]\n'],
    ['a server', `mcpServers: { s: { comand: node } }\n${rule}`],
    ['a tool that a rule names', `tools:\n${tool.replace('external', 'extern')}${rule}`],
  ])('%s', async (_, text) => {
    for (const modules of [[], [code]]) {
      const { errors, warnings } = await validated(text, modules);
      expect(errors).toEqual([expect.stringMatching(/^config_entries/)]);
      expect(warnings).toEqual([]);
    }
  });
});
