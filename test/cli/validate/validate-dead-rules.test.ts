/** What `validate` says of rules and quotas that can never match. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { validateFiles } from '../../../src/cli/validate/validate.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'host-tools-dead-rules-')));
afterAll(() => rmSync(folder, { recursive: true }));
const core = pathToFileURL(
  join(dirname(fileURLToPath(import.meta.url)), '../../../src/index.ts'),
).href;

async function errorsOf(name: string, text: string, modules: string[] = []): Promise<unknown> {
  writeFileSync(join(folder, name), text);
  const { files } = await validateFiles([name], { cwd: folder, modules });
  expect(files[0]?.passed).toBe(files[0]?.errors.length === 0);
  return files[0]?.errors;
}

const parameters = JSON.stringify({
  type: 'object',
  properties: {
    environment: { type: 'string', enum: ['staging', 'production'] },
    count: { type: 'number' },
  },
  additionalProperties: false,
});
writeFileSync(join(folder, 'deploy.mjs'), 'export default () => null;\n');
const tools = `tools:
  - { name: deploy, description: Deploys a build., module: ./deploy.mjs, parameters: ${parameters} }
`;

describe('a rule of a file that can never match is an error', () => {
  test.each([
    [
      'an unknown path',
      'rules:\n  - { id: a, effect: deny, tools: deploy, when: { enviroment: production } }',
      'rule_can_match: rules[0], line 4 `a`: `when["enviroment"]: "production"` never holds: ' +
        '`deploy` has no `enviroment`. Did you mean `environment`?',
    ],
    [
      'another type, for all tools',
      'rules:\n  - { effect: deny, when: { count: "> 10" } }',
      'rule_can_match: rules[0], line 4: `when["count"]: "> 10"` never holds: in `deploy`, `count` ' +
        'is a number. Did you mean `{ gt: 10 }`?',
    ],
    [
      'a rule of a profile',
      'profiles:\n  ci: { tools: [deploy], rules: [{ effect: deny, when: { environment: prod } }] }',
      'rule_can_match: profile `ci`, rules[0]: `when["environment"]: "prod"` never holds: in ' +
        '`deploy`, `environment` is "staging" or "production". Did you mean `"production"`?',
    ],
    [
      'a quota',
      'quotas:\n  - { id: q, tools: deploy, sum: cuont, max: 1, per: day, by: session }',
      'quota_can_match: quotas[0], line 4 `q`: `sum` is `cuont`, so nothing is added up: `deploy` ' +
        'has no `cuont`. Did you mean `count`?',
    ],
    [
      'a quota of a profile',
      'profiles:\n  ci: { tools: [deploy], quotas: [{ id: q, max: 1, per: day, by: { path: to } }] }',
      'quota_can_match: profile `ci`, quotas[0] `q`: `by` is `to`, so every call is refused: ' +
        '`deploy` has no `to`.',
    ],
  ])('%s', async (_, more, said) => {
    expect(await errorsOf('file.yaml', `${tools}${more}\n`)).toEqual([said]);
  });

  test.each([
    ['a rule that can match', 'rules: [{ effect: deny, when: { environment: production } }]'],
    ['one for a tool that is not there', 'rules: [{ effect: deny, tools: x, when: { a: 1 } }]'],
    ['a quota that can count', 'quotas: [{ id: q, sum: count, max: 1, per: day, by: session }]'],
  ])('but not %s', async (_, more) => {
    expect(await errorsOf('file.yaml', `${tools}${more}\n`)).toEqual([]);
  });

  test('and one about tools of a server is not judged', async () => {
    const server = 'mcpServers: { other: { command: nothing } }\n';
    const rules = (tool: string): string =>
      `rules: [{ effect: deny, tools: "${tool}", when: { nothing: 1 } }]\n`;
    expect(await errorsOf('a.yaml', `${tools}${server}${rules('*')}`)).toEqual([]);
    expect(await errorsOf('a.yaml', `${tools}${server}${rules('other_*')}`)).toEqual([]);
    expect(await errorsOf('a.yaml', `${tools}${server}${rules('deploy')}`)).toHaveLength(1);
  });

  test('also by the schemas of tools that a module brings', async () => {
    const text = `import { defineTool } from ${JSON.stringify(core)};
      export const pay = defineTool({ name: 'pay', description: 'Pays somebody.', parameters: {
        type: 'object', properties: { to: {} }, additionalProperties: false }, handler: () => 1 });`;
    writeFileSync(join(folder, 'pay.mjs'), text);
    const rules = 'rules: [{ effect: deny, tools: pay, when: { payee: x } }]\n';
    expect(await errorsOf('code.yaml', rules, [join(folder, 'pay.mjs')])).toEqual([
      'rule_can_match: rules[0], line 1: `when["payee"]: "x"` never holds: `pay` has no `payee`.',
    ]);
  });
});

test('a rule that a module adds is judged if it names its tools', async () => {
  const text = (tools: string): string => `import { defineTool } from ${JSON.stringify(core)};
    export function setupHostTools(registry) {
      registry.register(defineTool({ name: 'pay', description: 'Pays somebody.', parameters: {
        type: 'object', properties: { to: {} }, additionalProperties: false }, handler: () => 1 }));
      registry.addRules([{ id: 'r', effect: 'deny', tools: ${tools}, when: { payee: 'x' } }]);
    }`;
  expect(await errorsOf('named.mjs', text("'pay'"))).toEqual([
    'rule_can_match: `r` (registry): `when["payee"]: "x"` never holds: `pay` has no `payee`.',
  ]);
  expect(await errorsOf('any.mjs', text("'*'"))).toEqual([]);
});
