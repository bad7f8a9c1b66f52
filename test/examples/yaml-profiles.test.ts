/** The files of tools in `examples/profiles`, judged by their own tables of calls. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Rule } from '../../src/index.ts';
import { cli, root } from '../cli/cli-run.ts';

const cwd = join(root, 'examples/profiles');
const names = readdirSync(cwd)
  .filter((name) => name.endsWith('.cases.yaml'))
  .map((name) => name.slice(0, -'.cases.yaml'.length));
const read = (name: string): unknown => parse(readFileSync(join(cwd, name), 'utf8'));

test('there are two of them, each with a table', () => {
  const files = readdirSync(cwd).filter((name) => /^[\w-]+\.yaml$/.test(name));
  expect(files).toEqual(names.map((name) => `${name}.yaml`));
  expect(names).toEqual(['coding-agent', 'support-desk']);
});

describe.each(names)('%s', (name) => {
  test('each call of its table is decided as expected', async () => {
    const { exit, stdout, stderr } = await cli(
      ['policy', 'test', `${name}.cases.yaml`, '--host-tools', `${name}.yaml`],
      { cwd },
    );
    expect({ exit, stderr }, stdout).toEqual({ exit: 0, stderr: '' });
  });

  test('each rule that is enforced decides one of the calls', () => {
    const { rules, profiles } = read(`${name}.yaml`) as {
      rules: Rule[];
      profiles: Record<string, { rules?: Rule[] }>;
    };
    const { tests } = read(`${name}.cases.yaml`) as { tests: { expect: { ruleId?: string } }[] };
    const all = [...rules, ...Object.values(profiles).flatMap(({ rules: own = [] }) => own)];
    const decided = tests.flatMap(({ expect: { ruleId } }) => ruleId ?? []);
    expect(new Set(decided)).toEqual(
      new Set(all.flatMap(({ id, shadow }) => (shadow === true ? [] : id))),
    );
  });

  test('nothing in it is misspelt', async () => {
    const { exit, stdout } = await cli(['validate', `${name}.yaml`], { cwd });
    expect(exit, stdout).toBe(0);
    expect(stdout).toMatch(/: 0 errors, 0 warnings\.\n$/);
  });
});

test('the commands of the README run', async () => {
  const readme = readFileSync(join(cwd, 'README.md'), 'utf8');
  const lines = /```sh\n([^`]+)```/.exec(readme)![1]!.trimEnd().split('\n');
  expect(lines).toHaveLength(4);
  for (const line of lines) {
    const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(
      ([, quoted, plain]) => quoted ?? plain!,
    );
    expect(words.slice(0, 2)).toEqual(['npx', 'host-tools']);
    const { exit, stderr } = await cli(words.slice(2), { cwd });
    expect({ line, exit, stderr }).toEqual({ line, exit: 0, stderr: '' });
  }
});
