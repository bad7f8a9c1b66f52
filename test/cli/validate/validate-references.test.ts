/** What `validate` says of names that name nothing, and of places in results. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { validateFiles } from '../../../src/cli/validate/validate.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'host-tools-references-')));
afterAll(() => rmSync(folder, { recursive: true }));
const core = pathToFileURL(
  join(dirname(fileURLToPath(import.meta.url)), '../../../src/index.ts'),
).href;

async function warningsOf(name: string, text: string): Promise<readonly string[]> {
  writeFileSync(join(folder, name), text);
  const { files } = await validateFiles([name], { cwd: folder });
  expect(files[0]?.errors).toEqual([]);
  return files[0]?.warnings ?? [];
}

const define = (name: string, more = ''): string =>
  `export const ${name} = defineTool({ name: '${name}', description: 'Works as it should.', ` +
  `tags: ['net'], parameters: { type: 'object', properties: {} }, handler: () => null, ` +
  `${more} });`;
writeFileSync(join(folder, 'handlers.mjs'), 'export const run = () => null;\n');
const tools = `tools:
  - { name: push, description: Pushes a branch., tags: [net], parameters: { type: object, properties: {} }, module: ./handlers.mjs, function: run }
`;

describe('quotas that match no tool of the file are a warning', () => {
  const quota = 'id: spent, max: 1, per: day, by: session';
  test.each([
    [
      'a typing error',
      `quotas:\n  - { ${quota}, tools: [push, psh] }`,
      'quota_matches: quotas[0], line 4 `spent`: `psh` matches no tool of the file; did you mean ' +
        '`push`?',
    ],
    [
      'a quota of a profile',
      `profiles:\n  ci: { tools: [push], quotas: [{ ${quota}, tools: "git_*" }] }`,
      'quota_matches: profile `ci`, quotas[0] `spent`: `git_*` matches no tool of the file.',
    ],
  ])('%s', async (_, more, said) => {
    expect(await warningsOf('quotas.yaml', `${tools}${more}\n`)).toEqual([said]);
  });

  test('one for all tools, or for those that are there, is not', async () => {
    const more = `quotas: [{ ${quota} }, { ${quota.replace('spent', 'other')}, tools: "pu*" }]`;
    expect(await warningsOf('quotas.yaml', `${tools}${more}\n`)).toEqual([]);
  });
});

describe('rules that match no tool of the file are a warning', () => {
  test.each([
    [
      'a typing error',
      'rules:\n  - { id: no-push, effect: deny, tools: psh }',
      'rule_matches: rules[0], line 4 `no-push`: `psh` matches no tool of the file; did you ' +
        'mean `push`?',
    ],
    [
      'one name of several',
      'rules: [{ effect: deny, tools: [push, pul] }]',
      'rule_matches: rules[0], line 3: `pul` matches no tool of the file',
    ],
    [
      'a glob',
      'rules: [{ effect: deny, tools: "git_*" }]',
      'rule_matches: rules[0], line 3: `git_*` matches no tool of the file.',
    ],
    [
      'tags',
      'rules: [{ effect: deny, tags: nett }]',
      'rule_matches: rules[0], line 3: it matches no tool of the file.',
    ],
    [
      'a rule of a profile',
      'profiles:\n  ci: { tools: [push], rules: [{ effect: deny, tools: psh }] }',
      'rule_matches: profile `ci`, rules[0]: `psh` matches no tool of the file; did you mean ' +
        '`push`?',
    ],
  ])('%s', async (_, more, said) => {
    const warnings = await warningsOf('file.yaml', `${tools}${more}\n`);
    expect(warnings).toEqual([expect.stringContaining(said)]);
  });

  test.each([
    ['a name', 'rules: [{ effect: deny, tools: push }]'],
    ['a glob', 'rules: [{ effect: deny, tools: "p*" }]'],
    ['every tool', 'rules: [{ effect: ask }]'],
    ['a tag', 'profiles: { ci: { tools: [push], rules: [{ effect: deny, tags: [net, web] }] } }'],
  ])('not a rule that matches by %s', async (_, more) => {
    expect(await warningsOf('file.yaml', `${tools}${more}\n`)).toEqual([]);
  });

  test('a file of rules alone is not asked', async () => {
    expect(await warningsOf('rules.yaml', 'rules: [{ effect: deny, tools: push }]\n')).toEqual([]);
  });
});

describe('`uses` that names no tool of the file is a warning', () => {
  test('in a file', async () => {
    const text = tools.replace('function: run', 'function: run, uses: [fetch]');
    expect(await warningsOf('uses.yaml', text)).toEqual([
      'uses_known (push): It uses `fetch`, but the file has no tool of that name.',
    ]);
  });

  test('in a module, and not where it is there', async () => {
    const text =
      'import { defineTool } from ' +
      `${JSON.stringify(core)};\n${define('push')}\n${define('ship', "uses: ['push', 'pushh']")}\n`;
    expect(await warningsOf('uses.mjs', text)).toEqual([
      'uses_known (ship): It uses `pushh`, but the file has no tool of that name; did you mean ' +
        '`push`?',
    ]);
  });
});

test('what JSON cannot hold is named by its place in the output', async () => {
  writeFileSync(
    join(folder, 'output.mjs'),
    `const tool = { name: 'echo_text', description: 'Says a text again.', input_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  async execute() { return { success: true, output: { a: { b: 1n } } }; } };
export async function mount(coordinator, config) { await coordinator.mount('tools', tool, 'echo_text'); return tool; }\n`,
  );
  const { files } = await validateFiles(['output.mjs'], { cwd: folder });
  expect(files[0]?.errors).toEqual([
    expect.stringContaining('returned a result that is not JSON at `output/a/b`: '),
  ]);
});

describe('profiles whose tools offload, and which do not list the reader, are a warning', () => {
  const offloads = tools.replace('tags: [net]', 'outputStrategy: offload');

  test.each([
    [
      'with a list of tools',
      'profiles:\n  ci: { tools: [push] }',
      'offload_readable: profiles[0], line 4 `ci`: `push` offloads its output, but the profile ' +
        'does not list `read_tool_output`, so long outputs are cut. Add `{ name: ' +
        'read_tool_output, optional: true }` to its `tools`.',
    ],
    [
      'with a map of tools',
      'profiles:\n  ci: { tools: { push: null } }',
      'offload_readable: profiles[0], line 4 `ci`: `push` offloads its output, but the profile ' +
        'does not list `read_tool_output`, so long outputs are cut. Add `read_tool_output: { ' +
        'optional: true, knobs: {} }` to its `tools`.',
    ],
  ])('%s: the message says what to write, and that passes', async (_, more, said) => {
    expect(await warningsOf('offload.yaml', `${offloads}${more}\n`)).toEqual([said]);
    const entry = /Add `([^`]+)`/.exec(said)?.[1] as string;
    const repairedValue = more.replace(/push(?:: null)?/, `$&, ${entry}`);
    expect(await warningsOf('offload.yaml', `${offloads}${repairedValue}\n`)).toEqual([]);
  });

  test('a profile that extends such a one is not named again', async () => {
    const more = 'profiles:\n  sub: { extends: ci, tools: [] }\n  ci: { tools: [push] }\n';
    expect(await warningsOf('offload.yaml', offloads + more)).toEqual([
      expect.stringContaining('profiles[1], line 5 `ci`'),
    ]);
  });

  test('no profile, and a profile without such a tool, is not', async () => {
    expect(await warningsOf('offload.yaml', offloads)).toEqual([]);
    expect(
      await warningsOf('offload.yaml', `${tools}profiles:\n  ci: { tools: [push] }\n`),
    ).toEqual([]);
  });

  test('of a module: the profiles of its set-up', async () => {
    const text = `import { defineTool } from '${core}';
${define('fetch_log', "outputStrategy: 'offload'").replace('export ', '')}
export function setupHostTools(registry) {
  registry.register(fetch_log);
  registry.defineProfile({ id: 'good', tools: ['fetch_log', 'read_tool_output'] });
  registry.defineProfile({ id: 'ci', tools: ['fetch_log'] });
}
`;
    expect(await warningsOf('offload.mjs', text)).toEqual([
      expect.stringMatching(/^offload_readable: profile `ci`: `fetch_log` offloads/),
    ]);
  });
});

describe('a file whose profiles name tools that come from code', () => {
  writeFileSync(
    join(folder, 'code.mjs'),
    `import { defineTool } from '${core}';\n${define('from_code')}\n`,
  );
  const text = `${tools}profiles:
  ci: { tools: [push, from_code] }
rules:
  - { effect: ask, tools: from_code }
`;
  const check = async (modules: readonly string[], content = text) => {
    writeFileSync(join(folder, 'mixed.yaml'), content);
    const paths = modules.map((name) => join(folder, name));
    const { files } = await validateFiles(['mixed.yaml'], { cwd: folder, modules: paths });
    return files[0]!;
  };

  test('fails by itself, and the message names the option', async () => {
    const { errors } = await check([]);
    expect(errors).toEqual([
      expect.stringMatching(
        /^config_entries \(ci\): profiles\[0\], line 4: .*got `from_code`.* If your code registers it, give the module with `--host-tools-module MOD`\.$/,
      ),
    ]);
  });

  test('passes with the module, whose own tools are not checked', async () => {
    const { errors, warnings, tools: checked } = await check(['code.mjs']);
    expect({ errors, warnings }).toEqual({ errors: [], warnings: [] });
    expect(checked.map(({ name }) => name)).toEqual(['push']);
  });

  test('a name that the module does not have either is an error without that advice', async () => {
    const { errors } = await check(['code.mjs'], text.replace('[push, from', '[pusch, from'));
    expect(errors).toEqual([expect.stringMatching(/got `pusch`\. Did you mean `push`\?/)]);
    expect(errors[0]).not.toContain('--host-tools-module');
  });

  test('a profile that extends one of the code gets the advice, too', async () => {
    const { errors } = await check([], 'profiles:\n  ci: { extends: base }\n');
    expect(errors).toEqual([expect.stringContaining('--host-tools-module MOD')]);
  });

  test('a module that does not load is an error, and nothing else is said', async () => {
    writeFileSync(join(folder, 'broken.mjs'), "throw new Error('no database');\n");
    const { errors } = await check(['broken.mjs']);
    expect(errors).toEqual([
      expect.stringMatching(/^modules_load: Cannot load the module \S+broken\.mjs: no database/),
    ]);
  });
});
