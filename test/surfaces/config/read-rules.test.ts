import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readRules } from '../../../src/surfaces/config/read-rules.ts';

const folder = mkdtempSync(join(tmpdir(), 'host-tools-rules-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test('reads the rules of a file and names its other sections', async () => {
  const path = file(
    'all.yaml',
    'rules: [{ id: a, effect: ask }]\ntools: [{ module: ./does-not-exist.js }]\nquotas: []\n',
  );
  expect(await readRules(path)).toEqual({
    rules: [{ id: 'a', effect: 'ask' }],
    others: ['tools'],
  });
});

test('reads `alike` with a text, a list and a fact, from YAML and JSON', async () => {
  const rules = ['acme', ['acme', 'globex'], { fact: 'payees.watched' }].map((alike) => ({
    effect: 'deny',
    when: { payee: { alike } },
  }));
  const inJson = await readRules(file('alike.json', JSON.stringify({ rules })));
  const inYaml = file(
    'alike.yaml',
    `rules:
  - { effect: deny, when: { payee: { alike: acme } } }
  - { effect: deny, when: { payee: { alike: [acme, globex] } } }
  - { effect: deny, when: { payee: { alike: { fact: payees.watched } } } }
`,
  );
  expect([inJson.rules, (await readRules(inYaml)).rules]).toEqual([rules, rules]);
});

test('reads JSON; a file without rules has none', async () => {
  expect(await readRules(file('none.json', '{}'))).toEqual({ rules: [], others: [] });
});

test.each([
  [
    'format',
    'rules:\n  - effect: ask\n  - effect: forbid\n',
    /:3: rules\[1\]: `effect`: expected /,
  ],
  [
    'pattern',
    'rules: [{ effect: deny, when: { a: { matches: "(" } } }]',
    /:1: rules\[0\]: Expected `when\["a"\]\.matches` to be /,
  ],
  [
    'alike in an allow',
    'rules: [{ effect: allow, when: { a: { alike: acme } } }]',
    /:1: rules\[0\]: Expected `when\["a"\]\.alike` to be a test without `alike`/,
  ],
  [
    'list of look-alikes',
    'rules: [{ effect: deny, when: { a: { alike: [acme, 7] } } }]',
    /:1: rules\[0\]: `when\.a\.alike\[1\]`: expected /,
  ],
  [
    'origin',
    'rules: [{ effect: ask, origins: [untrusted, unknwon] }]',
    /:1: rules\[0\]: `origins\[1\]`: expected .*, did you mean `unknown`\?/,
  ],
  ['section', 'rules: 5', /:1:\d+: expected `rules` to be a list, got /],
])('refuses a malformed %s with its line', async (name, text, message) => {
  const path = file(`${name}.yaml`, text);
  await expect(readRules(path)).rejects.toMatchObject({ code: 'invalid_file' });
  await expect(readRules(path)).rejects.toThrow(message);
});
