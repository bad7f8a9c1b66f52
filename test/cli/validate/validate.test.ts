/** What `validate` finds in good and in bad files. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  formatValidateReport,
  type ValidateOptions,
  type ValidateReport,
  validateFiles,
} from '../../../src/cli/validate/validate.ts';
import { validateChecks } from '../../../src/cli/validate/validate-checks.ts';

const here = dirname(fileURLToPath(import.meta.url));
const fixtures = join(here, '../fixtures');
const core = pathToFileURL(join(here, '../../../src/index.ts')).href;

let folder = '';
let written = 0;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'host-tools-validate-')));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Given extends ValidateOptions {
  readonly ending?: string;
  /**
   * Imports the module before, so that a short limit is one on what comes after its import, however
   * busy the machine is.
   */
  readonly imported?: boolean;
}

/** Writes a file that nothing has imported before, and validates it. */
async function validateText(
  text: string,
  { ending = '.mjs', imported = false, ...options }: Given = {},
): Promise<ValidateReport> {
  const file = `module-${written++}${ending}`;
  writeFileSync(join(folder, file), text);
  if (imported) await import(pathToFileURL(join(folder, file)).href);
  return validateFiles([file], { cwd: folder, ...options });
}
const failedIn = (report: ValidateReport): string[] =>
  report.files.flatMap(({ checks }) =>
    checks.flatMap(({ name, passed, severity }) => (passed || severity === 'info' ? [] : [name])),
  );
const infosIn = (report: ValidateReport): string[] =>
  report.files.flatMap(({ checks }) =>
    checks.flatMap(({ name, passed, severity }) => (passed || severity !== 'info' ? [] : [name])),
  );

/** A module by hand that passes; each bad one differs from it in one thing. */
interface Parts {
  readonly tool?: string;
  readonly execute?: string;
  readonly schema?: string;
  readonly mount?: string;
  readonly head?: string;
  readonly members?: string;
  readonly result?: string;
  readonly parameters?: string;
}
const moduleOf = ({
  members = `name: 'echo_text', description: 'Says a text again.',`,
  schema = `input_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ` +
    `['text'] },`,
  execute = "async execute(input) { return typeof input.text === 'string' ? { success: true, " +
    "output: input.text } : { success: false, error: { message: 'text is required' } }; },",
  tool = `{ ${members} ${schema} ${execute} }`,
  result = 'tool',
  parameters = 'coordinator, config',
  mount = `coordinator.registerContributor('observability.events', 'echo', () => ['echo:said']); ` +
    `await coordinator.mount('tools', tool, 'echo_text'); return ${result};`,
  head = '',
}: Parts): string =>
  `${head}\nconst tool = ${tool};\nexport async function mount(${parameters}) { ${mount} }\n`;

describe('files that are as they should be', () => {
  test.each([
    'created-module.mjs',
    'written-module.mjs',
    'common-module.cjs',
    'definitions.mjs',
    'setup.mjs',
  ])('%s passes without a warning', async (file) => {
    const report = await validateFiles([file], { cwd: fixtures });
    expect(report.files[0]).toMatchObject({ file, errors: [], warnings: [], passed: true });
    expect(report.passed).toBe(true);
  });

  test('what the tables of bad modules start from passes too', async () => {
    const report = await validateText(moduleOf({}));
    expect(failedIn(report)).toEqual([]);
    expect(infosIn(report)).toEqual([]);
  });
});

const never = 'new Promise(() => {})';
const mountTool = `await coordinator.mount('tools', tool, tool.name);`;
const observe = `coordinator.registerContributor('observability.events', 'echo', () => []);`;
const refuse = `{ success: false, error: { message: 'text is required' } }`;
const quick: Given = { timeoutMs: 30, imported: true };

/**
 * Validates with a short limit, and with longer ones as long as the import is what took too long, as
 * it may on a busy machine.
 */
async function validateSoon(text: string, options: Given = {}): Promise<ValidateReport> {
  const { timeoutMs, imported } = options;
  const report = await validateText(text, options);
  return imported === true && timeoutMs !== undefined && failedIn(report).includes('importable')
    ? validateSoon(text, { ...options, timeoutMs: 4 * timeoutMs })
    : report;
}

describe('each fault of a module by hand is found by its check', () => {
  test.for<readonly [fault: string, parts: Parts, failed: readonly string[], options?: Given]>([
    // The entry point
    ['`mount` declares one parameter', { parameters: 'coordinator' }, ['entry_point_parameters']],
    [
      '`mount` has a parameter with a default',
      { parameters: 'coordinator, config = {}' },
      ['entry_point_parameters'],
    ],
    ['`mount` throws', { mount: `throw new Error('no key');` }, ['mount_runs']],
    [
      '`mount` mounts at a point that is none',
      { mount: `await coordinator.mount('tool', tool, 'echo_text');` },
      ['mount_runs'],
    ],
    ['`mount` never settles', { mount: `await ${never};` }, ['mount_runs'], quick],
    ['`mount` gives a text', { result: `'echo_text'` }, ['mount_returns']],
    ['`mount` gives an object that is no tool', { result: '{}' }, ['mount_returns']],
    ['`mount` gives null and mounts nothing', { mount: 'return null;' }, ['mount_available']],
    ['`mount` gives nothing and mounts nothing', { mount: '' }, ['mount_available']],
    [
      '`mount` gives a clean-up and mounts nothing',
      { mount: 'return () => {};' },
      ['mounts_tools'],
    ],
    ['`mount` gives a tool and does not mount it', { mount: 'return tool;' }, ['mounts_tools']],
    ['`mount` gives another tool than it mounts', { result: '{ ...tool }' }, ['mounts_tools']],
    [
      'the tool is mounted among the providers',
      { mount: `await coordinator.mount('providers', tool, 'echo_text'); return tool;` },
      ['mounts_tools'],
    ],
    [
      'the tool is mounted and taken away again',
      { mount: `${mountTool} await coordinator.unmount('tools', tool.name); return tool;` },
      ['mounts_tools'],
    ],
    [
      'the tool is mounted under another name',
      { mount: `${observe} await coordinator.mount('tools', tool, 'echo-text'); return tool;` },
      ['mount_name'],
    ],
    // Clean-up
    ['the clean-up throws', { result: `() => { throw new Error('gone'); }` }, ['cleanup_runs']],
    ['the clean-up never settles', { result: `() => ${never}` }, ['cleanup_runs'], quick],
    [
      'a second clean-up throws',
      {
        head: 'let over = false;',
        result: `() => { if (over) throw new Error('again'); over = true; }`,
      },
      ['cleanup_idempotent'],
    ],
    [
      'a registered clean-up rejects',
      {
        mount:
          `${observe} ${mountTool} coordinator.registerCleanup(() => Promise.reject(new ` +
          `Error('gone'))); return tool;`,
      },
      ['cleanup_runs'],
    ],
    // Observability
    ['no events are declared', { mount: `${mountTool} return tool;` }, ['observability_events']],
    [
      'the events are no list',
      {
        mount:
          `${mountTool} coordinator.registerContributor('observability.events', 'echo', () => ` +
          `'said'); return tool;`,
      },
      ['observability_events'],
    ],
    [
      'the contributor throws',
      {
        mount:
          `${mountTool} coordinator.registerContributor('observability.events', 'echo', () => { ` +
          'throw new Error(); }); return tool;',
      },
      ['observability_events'],
    ],
    // The protocol
    [
      'the tool is callable',
      {
        tool: `Object.assign(() => {}, { description: 'Says a text again.' })`,
        mount: `${observe} await coordinator.mount('tools', tool, 'echo_text'); return null;`,
      },
      ['tool_object'],
    ],
    ['the tool is a text', { tool: `'echo_text'`, result: 'null' }, ['tool_object']],
    ['the tool has no name', { members: `description: 'Says a text again.',` }, ['tool_name']],
    [
      'the name is blank',
      { members: `name: ' ', description: 'Says a text again.',` },
      ['tool_name'],
    ],
    [
      'the name hides a character',
      { members: `name: 'echo\u200b_text', description: 'Says a text again.',` },
      ['tool_name'],
    ],
    [
      'reading the name throws',
      { members: `get name() { throw new Error('no'); }, description: 'Says a text again.',` },
      ['tool_name'],
    ],
    [
      'the name is not snake_case',
      {
        members: `name: 'echoText', description: 'Says a text again.',`,
        mount: `${observe} ${mountTool} return tool;`,
      },
      ['name_style'],
    ],
    [
      'the name is too long for model providers',
      {
        members: `name: 'e'.repeat(65), description: 'Says a text again.',`,
        mount: `${observe} ${mountTool} return tool;`,
      },
      ['name_style'],
    ],
    [
      'two tools have one name',
      {
        mount:
          `${observe} ${mountTool} await coordinator.mount('tools', { ...tool }, tool.name); ` +
          'return null;',
      },
      ['name_unique'],
    ],
    [
      'two mounted tools call themselves the same',
      {
        mount:
          `${observe} ${mountTool} await coordinator.mount('tools', { ...tool }, 'other'); ` +
          'return null;',
      },
      ['mount_name', 'name_unique'],
    ],
    [
      'two tools have names that are taken for one another',
      {
        mount:
          `${observe} ${mountTool} await coordinator.mount('tools', { ...tool, name: ` +
          `'echo_Text' }, 'echo_Text'); return null;`,
      },
      ['name_style', 'name_twins'],
    ],
    ['the tool has no description', { members: `name: 'echo_text',` }, ['tool_description']],
    [
      'the description is blank',
      { members: `name: 'echo_text', description: '  ',` },
      ['tool_description'],
    ],
    [
      'the description is a word',
      { members: `name: 'echo_text', description: 'Echoes.',` },
      ['description_length'],
    ],
    ['`execute` is missing', { execute: '', result: 'null' }, ['tool_execute']],
    ['`execute` is a text', { execute: `execute: 'echo',`, result: 'null' }, ['tool_execute']],
    // Schemas
    ['no schema is shown', { schema: '' }, ['schema_present']],
    ['the schema is a text', { schema: `input_schema: 'object',` }, ['schema_valid']],
    [
      'the schema is of a validation library',
      { schema: `input_schema: { '~standard': { version: 1, vendor: 'own', validate() {} } },` },
      ['schema_valid'],
    ],
    [
      'the schema is not JSON',
      { schema: `input_schema: { type: 'object', properties: { text: { const: 1n } } },` },
      ['schema_valid'],
    ],
    ['the schema is no object', { schema: `input_schema: { type: 'string' },` }, ['schema_valid']],
    [
      'the schema has an unknown type',
      { schema: `input_schema: { type: 'object', properties: { text: { type: 'text' } } },` },
      ['schema_valid'],
    ],
    [
      'the schema refers to nothing',
      {
        schema: `input_schema: { type: 'object', properties: { text: { $ref: '#/$defs/text' } } },`,
      },
      ['schema_valid'],
    ],
    [
      'a pattern is none',
      {
        schema:
          `input_schema: { type: 'object', properties: { text: { type: 'string', pattern: '(' } ` +
          '} },',
      },
      ['schema_valid'],
    ],
    [
      '`get_schema()` throws',
      { schema: `get_schema() { throw new Error('no'); },` },
      ['schema_valid'],
    ],
    [
      '`get_schema()` answers a promise',
      { schema: `async get_schema() { return {}; },` },
      ['schema_valid'],
    ],
    [
      'two ways to the schema differ',
      {
        schema:
          `input_schema: { type: 'object', properties: {} }, get_schema() { return { type: ` +
          `'object', properties: { text: {} } }; },`,
      },
      ['schema_agrees'],
    ],
    [
      'the schema says nothing',
      {
        schema:
          `input_schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: ` +
          `'object' },`,
      },
      ['schema_not_empty'],
    ],
    ['the schema is empty', { schema: 'input_schema: {},' }, ['schema_not_empty']],
    [
      'a pattern can hang the engine',
      {
        schema:
          `input_schema: { type: 'object', properties: { text: { type: 'string', pattern: ` +
          `'^(.)\\\\1+$' } }, required: ['text'] },`,
      },
      ['schema_patterns'],
    ],
    // Behaviour
    ['`execute` throws', { execute: `execute() { throw new Error('bad'); },` }, ['never_throws']],
    [
      '`execute` rejects',
      { execute: 'async execute(input) { return input.text.length; },' },
      ['never_throws'],
    ],
    ['`execute` never settles', { execute: `execute: () => ${never},` }, ['settles'], quick],
    [
      'the result is a text',
      { execute: `async execute() { return 'text is required'; },` },
      ['result_shape'],
    ],
    ['the result is nothing', { execute: 'async execute() {},' }, ['result_shape']],
    [
      'the result has no `success`',
      { execute: `async execute() { return { error: { message: 'text is required' } }; },` },
      ['result_shape'],
    ],
    [
      'a failure has no error',
      { execute: 'async execute() { return { success: false }; },' },
      ['result_shape'],
    ],
    [
      'a failure has a text for an error',
      { execute: `async execute() { return { success: false, error: 'text is required' }; },` },
      ['result_shape'],
    ],
    [
      'a failure has an empty message',
      { execute: `async execute() { return { success: false, error: { message: '' } }; },` },
      ['result_shape'],
    ],
    [
      'a success has an error',
      { execute: `async execute() { return { success: true, error: { message: 'but' } }; },` },
      ['result_shape'],
    ],
    [
      'reading the result throws',
      { execute: `async execute() { return { get success() { throw new Error('no'); } }; },` },
      ['result_shape'],
    ],
    [
      'the output is not JSON',
      { execute: `async execute() { return { ...${refuse}, output: { at: 1n } }; },` },
      ['output_json'],
    ],
    [
      'the output is a circle',
      {
        execute: `async execute() { const o = {}; o.o = o; return { ...${refuse}, output: o }; },`,
      },
      ['output_json'],
    ],
    [
      'bad input succeeds',
      { execute: `async execute() { return { success: true, output: 'said' }; },` },
      ['refuses_invalid_input'],
    ],
    // The process
    ['importing ends the process', { head: 'try { process.exit(3); } catch {}' }, ['no_exit']],
    [
      '`mount` sets an exit code',
      { mount: `${observe} ${mountTool} process.exitCode = 4; return tool;` },
      ['no_exit'],
    ],
  ])('%s', async ([, parts, failed, options]) => {
    const report = await validateSoon(moduleOf(parts), options);
    expect(failedIn(report)).toEqual(failed);
    expect(report.passed).toBe(
      failed.every((name) => validateChecks[name as keyof typeof validateChecks] !== 'error'),
    );
  });
});

describe('each fault of any file is found by its check', () => {
  test.for<readonly [fault: string, text: string, failed: readonly string[], options?: Given]>([
    ['an ending that is unknown', 'openapi: 3.1.0', ['file_kind'], { ending: '.toml' }],
    ['a syntax that is none', 'export const = 1;', ['importable']],
    ['an import of what is not there', `import '../nowhere.mjs';`, ['importable']],
    ['a throw at the top', `throw new Error('at the top');`, ['importable']],
    ['a wait at the top that never ends', `await ${never};`, ['importable'], { timeoutMs: 30 }],
    ['an exit at the top', 'process.exit(0);', ['importable', 'no_exit']],
    ['nothing that is exported', 'export {};', ['entry_point']],
    [
      'nothing of interest',
      'export const answer = 42; export default { answer };',
      ['entry_point'],
    ],
    ['a `mount` that is no function', `export const mount = 'here';`, ['entry_point']],
    ['a setup that is no function', 'export const setupHostTools = [];', ['entry_point']],
    [
      'a setup that throws',
      `export function setupHostTools() { throw new Error('no'); }`,
      ['setup_runs'],
    ],
    [
      'a setup that never settles',
      `export const setupHostTools = () => ${never};`,
      ['setup_runs'],
      quick,
    ],
    [
      'a setup that registers nothing',
      'export const setupHostTools = (registry) => {};',
      ['setup_runs'],
    ],
    ['a class', 'export default class Tool {}', ['setup_runs']],
    [
      '`mount` as the default export alone',
      'export default async function mount(coordinator, config) {}',
      ['entry_point'],
    ],
    ['a default array with something else in it', 'export default [42];', ['definitions']],
    [
      'a tool that was not defined',
      `export const echo = { name: 'echo', description: 'Says a text again.', parameters: {}, ` +
        'handler() {} };',
      ['definitions'],
    ],
    [
      'a definition of another copy',
      `export const echo = { name: 'echo', handler() {}, ` +
        `[Symbol.for('host-tools.definition')]: true };`,
      ['definitions'],
    ],
    [
      'exports that throw when they are read',
      'export default new Proxy({}, { get() { throw new Error(); }, ownKeys() { throw new ' +
        'Error(); } });',
      ['entry_point'],
    ],
  ])('%s', async ([, text, failed, options]) => {
    expect(failedIn(await validateSoon(text, options))).toEqual(failed);
  });

  test('a folder is checked as the file that its package.json names', async () => {
    const home = join(folder, 'my-tool');
    mkdirSync(join(home, 'dist'), { recursive: true });
    writeFileSync(join(home, 'package.json'), JSON.stringify({ exports: './dist/tool.mjs' }));
    const missing = await validateFiles(['my-tool'], { cwd: folder });
    expect(failedIn(missing)).toEqual(['file_exists']);
    expect(missing.files[0]?.checks[0]?.message).toMatch(/names `\.\/dist\/tool\.mjs`, but/);

    writeFileSync(
      join(home, 'dist/tool.mjs'),
      `import { defineTool } from ${JSON.stringify(core)};\n` +
        `export default defineTool({ name: 'my_tool', description: 'Does my work.', ` +
        `parameters: { type: 'object' }, handler: () => 'done' });`,
    );
    const { files, passed } = await validateFiles(['my-tool', './my-tool/'], { cwd: folder });
    expect(files.map(({ file }) => file)).toEqual(['my-tool']);
    expect(files[0]?.checks[0]?.message).toBe(`The directory names ${home}/dist/tool.mjs.`);
    expect(passed).toBe(true);
  });

  test('a file that is not there, and a folder without a module', async () => {
    const { files, passed } = await validateFiles(['nowhere.mjs', '.'], { cwd: folder });
    expect(files.map(({ checks }) => checks[0])).toMatchObject([
      { name: 'file_exists', passed: false },
      { name: 'file_exists', passed: false },
    ]);
    expect(passed).toBe(false);
  });

  const define = (parts: string): string =>
    `import { defineTool } from ${JSON.stringify(core)};\nconst base = { name: 'echo', ` +
    `description: 'Says a text again.', parameters: { type: 'object', properties: { text: { ` +
    `type: 'string' } } }, handler() { globalThis.ran = true; } };\n${parts}\n`;
  test.each<readonly [fault: string, text: string, failed: readonly string[]]>([
    [
      'two definitions of one name',
      'export default [defineTool(base), defineTool({ ...base })];',
      ['name_unique'],
    ],
    [
      'two definitions whose names are taken for one another',
      `export default [defineTool(base), defineTool({ ...base, name: 'ECHO' })];`,
      ['name_unique'],
    ],
    [
      'a schema that no registry takes',
      `export default defineTool({ ...base, parameters: { type: 'object', properties: { text: ` +
        `{ type: 'text' } } } });`,
      ['schema_valid'],
    ],
    [
      'a pattern that can hang the engine',
      `export default defineTool({ ...base, parameters: { type: 'object', properties: { text: ` +
        `{ type: 'string', pattern: '(?=a)' } } } });`,
      ['schema_patterns'],
    ],
    [
      'a schema that says nothing',
      `export default defineTool({ ...base, parameters: { type: 'object' } });`,
      ['schema_not_empty'],
    ],
    [
      'a short description',
      `export default defineTool({ ...base, description: 'Echo' });`,
      ['description_length'],
    ],
    [
      'a name in another style',
      `export default defineTool({ ...base, name: 'say.again' });`,
      ['name_style'],
    ],
    [
      'a schema that never decides',
      `export default defineTool({ ...base, parameters: { '~standard': { version: 1, vendor: ` +
        `'own', validate: () => ${never}, jsonSchema: { input: () => base.parameters } } } });`,
      ['settles'],
    ],
    ['an array under a name', 'export const tools = [defineTool(base)];', ['entry_point']],
  ])('of definitions: %s', async (_, text, failed) => {
    const report = await validateSoon(define(text), { timeoutMs: 100, imported: true });
    expect(failedIn(report)).toEqual(failed);
    expect(globalThis).not.toHaveProperty('ran');
  });
});

describe('mounted tools are called with nothing that their schema takes', () => {
  const recorder = (schema: string, extra = ''): string =>
    moduleOf({
      head: 'globalThis.given = [];',
      schema: `input_schema: ${schema}, ${extra}`,
      execute: `async execute(input) { globalThis.given.push(input); return ${refuse}; },`,
    });
  const given = (): unknown => (globalThis as { given?: unknown }).given;
  afterEach(() => {
    delete (globalThis as { given?: unknown }).given;
  });

  const id = { _tool_call_id: 'call-1' };
  const odd = { unexpected: true };
  test.each<readonly [schema: string, inputs: readonly object[]]>([
    [
      `{ type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }`,
      [{}, { path: odd }, { path: odd, ...id }],
    ],
    [
      `{ type: 'object', properties: { path: { type: 'string' } } }`,
      [{ path: odd }, { path: odd, ...id }],
    ],
    [
      `{ type: 'object', properties: { path: { type: ['string', 'object'] } }, required: ` +
        `['path'] }`,
      [{}, { path: [] }, { path: [], ...id }],
    ],
    [`{ type: 'object', properties: { any: {} }, required: ['any'] }`, [{}, id]],
    [`{ type: 'object', properties: { any: {} } }`, []],
    [`{ type: 'object', properties: {} }`, []],
    // The id alone would make the input a good one.
    [`{ type: 'object', minProperties: 1 }`, [{}]],
    [`{ type: 'object', required: ['_tool_call_id'] }`, [{}]],
  ])('%s', async (schema, inputs) => {
    const report = await validateText(recorder(schema));
    expect(given()).toEqual(inputs);
    expect(infosIn(report)).toEqual(inputs.length === 0 ? ['behaviour_skipped'] : []);
  });

  const required =
    "{ type: 'object', properties: { path: { type: 'string' } }, required: ['path'] " + '}';
  test.each([
    `requires_approval: true,`,
    `requiresApproval: (input) => true,`,
    `annotations: { destructive: true },`,
    `annotations: { destructiveHint: true },`,
  ])('a tool that warns of itself is not called at all: %s', async (extra) => {
    const report = await validateText(recorder(required, extra));
    expect([given(), infosIn(report), report.passed]).toEqual([[], ['behaviour_skipped'], true]);
  });

  test('a tool without a usable schema is not called', async () => {
    const report = await validateText(recorder(`{ type: 'object', required: 'path' }`));
    expect([given(), infosIn(report)]).toEqual([[], ['behaviour_skipped']]);
  });

  test('with `behaviour: false` no tool is called', async () => {
    const report = await validateText(recorder(required), { behaviour: false });
    expect([given(), infosIn(report), report.passed]).toEqual([[], [], true]);
  });

  test(
    'tools of `createModule` refuse before their handlers would run, also those that would ' +
      'destroy something',
    async () => {
      const report = await validateFiles(['created-module.mjs'], { cwd: fixtures });
      expect(report.files[0]?.checks).toContainEqual(
        expect.objectContaining({ name: 'refuses_invalid_input', tool: 'drop_note', passed: true }),
      );
    },
  );
});

describe('tools that are not there yet', () => {
  test('a module whose tools all wait for a fact is reported, but does not fail', async () => {
    const amplifier = pathToFileURL(join(here, '../../../src/surfaces/amplifier/index.ts')).href;
    const report = await validateText(`
      import { createModule } from ${JSON.stringify(amplifier)};
      import { defineTool } from ${JSON.stringify(core)};
      const open = defineTool({ name: 'open_file', description: 'Opens a file.', parameters: { type: 'object', properties: {} }, requires: [{ fact: 'ready', equals: true }], handler: () => null });
      export default createModule([open]);`);
    expect(failedIn(report)).toEqual(['mount_available']);
    expect(report.files[0]?.warnings[0]).toContain('open_file');
    expect(report.passed).toBe(true);
  });
});

describe('what a module exports counts as the loaders take it', () => {
  const define = (parts: string): string => `import { defineTool } from ${JSON.stringify(core)};
    const make = (name) => defineTool({ name, description: 'Says a text again.', parameters: { type: 'object', properties: {} }, handler() {} });
    ${parts}`;
  const toolsIn = ({ files }: ValidateReport): string[] => [
    ...new Set(
      files.flatMap(({ checks }) =>
        checks.flatMap(({ name, tool }) =>
          name === 'schema_valid' && tool !== undefined ? [tool] : [],
        ),
      ),
    ),
  ];
  test.each<readonly [exports: string, text: string, tools: readonly string[]]>([
    [
      'a definition that is exported twice counts once',
      `export const one = make('one'); export { one as default };`,
      ['one'],
    ],
    [
      'a setup function by name speaks for the module',
      `export const two = make('two'); export const setupHostTools = (registry) => ` +
        `registry.register(make('one'));`,
      ['one'],
    ],
    [
      'a default setup function does not',
      `const one = make('one'); export const two = make('two'); export { one }; export ` +
        'default (registry) => void registry.register(one);',
      ['one', 'two'],
    ],
    [
      'members of a default object count',
      `export default { one: make('one'), limit: 3 };`,
      ['one'],
    ],
    [
      'an array under a name, beside what counts, does not',
      `export const one = make('one'); export const all = [one, make('two')];`,
      ['one'],
    ],
  ])('%s', async (_, text, tools) => {
    const report = await validateText(define(text));
    expect([failedIn(report), toolsIn(report)]).toEqual([[], tools]);
  });
});

describe('host-tools files', () => {
  const entry = `
  - name: read_note
    description: Reads a note by its title.
    module: ./notes.mjs
    function: readNote
    parameters: { type: object, properties: { title: { type: string } }, required: [title] }
`;
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  beforeAll(() =>
    write(
      'notes.mjs',
      `export const readNote = () => { throw new Error('validation never runs a handler'); };`,
    ),
  );

  test.each<readonly [fault: string, text: string, ending: string, failed: readonly string[]]>([
    ['tools that load', `tools:${entry}`, '.yaml', []],
    ['rules alone', 'rules:\n  - effect: deny\n    tools: rm_*\n', '.yml', []],
    ['JSON', '{ "rules": [{ "effect": "deny", "tools": "rm_*" }] }', '.json', []],
    ['nothing', 'tools: []', '.yaml', ['config_not_empty']],
    [
      'servers with prefixes of their own',
      'mcpServers: { a: { command: x }, b: { command: x, prefix: "" } }',
      '.yaml',
      [],
    ],
    [
      'two servers of one prefix',
      'mcpServers: { a: { command: x }, b: { command: x, prefix: a. } }',
      '.yaml',
      ['server_prefixes'],
    ],
    [
      'approvals and an audit log in a store',
      `store: { url: "sqlite:./state.db" }\napprovals: {}\naudit: {}\ntools:${entry}`,
      '.yaml',
      [],
    ],
    [
      'approvals and an audit log without a place',
      `approvals: {}\naudit: {}\ntools:${entry}`,
      '.yaml',
      ['store_fits', 'store_fits'],
    ],
    [
      'what a folder does not keep',
      `store: { url: "file:./state" }
audit: {}
quotas: [{ id: q, max: 1, per: day, by: registry }]
tools:${entry}`,
      '.yaml',
      ['store_fits', 'store_fits'],
    ],
    ['the address of a store that is none', 'store: { url: x }', '.yaml', ['config_entries']],
    ['a syntax that is none', 'tools: [', '.yaml', ['config_loads']],
    ['another kind of document', '{ "openapi": "3.1.0", "paths": {} }', '.json', ['config_loads']],
    [
      'an entry whose module is missing',
      `tools:${entry.replace('notes.mjs', 'nowhere.mjs')}`,
      '.yaml',
      ['config_entries'],
    ],
    ['two entries of one name', `tools:${entry}${entry}`, '.yaml', ['config_entries']],
    [
      'a description of a word',
      `tools:${entry.replace('Reads a note by its title.', 'Notes')}`,
      '.yaml',
      ['description_length'],
    ],
  ])('%s', async (_, text, ending, failed) => {
    expect(failedIn(await validateText(text, { ending }))).toEqual(failed);
  });

  test(
    'a broken entry is named with its section, index, line and reason, and the others are ' +
      'checked',
    async () => {
      const report = await validateText(
        `tools:${entry}${entry.replace('read_note', 'drop_note').replace('readNote', 'dropNote')}`,
        { ending: '.yaml' },
      );
      expect(report.files[0]?.errors).toEqual([
        expect.stringMatching(/^config_entries \(drop_note\): tools\[1\], line \d+: .*dropNote/),
      ]);
      expect(report.files[0]?.checks).toContainEqual(
        expect.objectContaining({ name: 'refuses_invalid_input', tool: 'read_note', passed: true }),
      );
    },
  );
});

describe('several files', () => {
  test(
    'a name that two files have, and names that are taken for one another, are warnings that ' +
      'name the other',
    async () => {
      writeFileSync(join(folder, 'one.mjs'), moduleOf({}));
      writeFileSync(join(folder, 'two.mjs'), moduleOf({}));
      writeFileSync(join(folder, 'three.mjs'), moduleOf({}).replaceAll('echo_text', 'echo-text'));
      const { passed, files } = await validateFiles(['one.mjs', 'two.mjs', 'three.mjs'], {
        cwd: folder,
      });
      expect(passed).toBe(true);
      expect(files.map(({ warnings }) => warnings)).toEqual([
        [],
        [expect.stringMatching(/^name_twins \(echo_text\): .*one\.mjs/)],
        [
          expect.stringMatching(/^name_style/),
          expect.stringMatching(/^name_twins \(echo-text\): .*echo_text/),
        ],
      ]);
    },
  );

  test('a file that is given twice is looked at once', async () => {
    const { files } = await validateFiles(
      ['setup.mjs', './setup.mjs', join(fixtures, 'setup.mjs')],
      { cwd: fixtures },
    );
    expect(files.map(({ file }) => file)).toEqual(['setup.mjs']);
  });

  test('one that fails fails the report and not its neighbours', async () => {
    const { passed, files } = await validateFiles(['nowhere.mjs', 'setup.mjs'], { cwd: fixtures });
    expect([passed, ...files.map((file) => file.passed)]).toEqual([false, false, true]);
  });

  test.each<readonly [string, readonly string[], ValidateOptions, string]>([
    ['no file', [], {}, 'at least one file'],
    ['a limit that is none', ['a.mjs'], { timeoutMs: 0 }, 'timeoutMs'],
    ['a limit that timers cannot hold', ['a.mjs'], { timeoutMs: 2 ** 31 }, 'timeoutMs'],
  ])('%s is refused', async (_, files, options, message) => {
    await expect(validateFiles(files, options)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining(message),
    });
  });
});

describe('the process', () => {
  const kinds = ['unhandledRejection', 'uncaughtException'] as const;
  const state = (): unknown => [
    process.exit,
    process.exitCode,
    ...kinds.map((kind) => process.listeners(kind as 'uncaughtException')),
  ];

  /** The runner would count what is meant to go astray as its own. */
  async function undisturbed<T>(run: () => Promise<T>): Promise<T> {
    const held = kinds.map((kind) => process.listeners(kind as 'uncaughtException'));
    for (const kind of kinds) process.removeAllListeners(kind);
    try {
      return await run();
    } finally {
      kinds.forEach((kind, index) => {
        for (const listener of held[index]!) process.on(kind as 'uncaughtException', listener);
      });
    }
  }

  test.each([
    ['a rejection that nobody handles at import', `Promise.reject(new Error('astray'));`],
    ['an exception in a turn of its own', `setImmediate(() => { throw new Error('astray'); });`],
    ['a rejection by a rejection', `setImmediate(() => void Promise.reject(new Error('astray')));`],
  ])('%s is an error of the file and ends nothing', async (_, head) => {
    const report = await undisturbed(() => validateText(moduleOf({ head })));
    expect(failedIn(report)).toEqual(['no_stray_errors']);
    expect(report.files[0]?.errors[0]).toContain('astray');
  });

  test('a tool that leaves a rejection behind is found', async () => {
    const report = await undisturbed(() =>
      validateText(
        moduleOf({
          execute: `async execute() { Promise.reject(new Error('astray')); return ${refuse}; },`,
        }),
      ),
    );
    expect(failedIn(report)).toEqual(['no_stray_errors']);
  });

  test('is left as it was found', async () => {
    const before = state();
    await validateText(
      moduleOf({ head: 'try { process.exit(1); } catch {} process.exitCode = 9;' }),
    );
    await validateFiles(['created-module.mjs', 'nowhere.mjs'], { cwd: fixtures });
    expect(state()).toEqual(before);
  });

  test('is left as it was found by two validations at once', async () => {
    const before = state();
    await Promise.all([
      validateFiles(['setup.mjs'], { cwd: fixtures }),
      validateFiles(['setup.mjs', 'definitions.mjs'], { cwd: fixtures }),
    ]);
    expect(state()).toEqual(before);
  });

  test('is free at the moment in which the run is interrupted', async () => {
    const before = state();
    const interrupt = new AbortController();
    const interrupted: unknown[] = [];
    const running = validateText(moduleOf({ mount: `await ${never};` }), {
      timeoutMs: 60,
      signal: interrupt.signal,
    });
    interrupted.push(await Promise.resolve().then(() => process.exit === (before as unknown[])[0]));
    interrupt.abort(new Error('interrupted'));
    interrupted.push(state());
    await expect(running).rejects.toThrow('interrupted');
    expect(interrupted).toEqual([false, before]);
    expect(state()).toEqual(before);
  });

  test('keeps no timer of a wait that is over', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const cleared = vi.spyOn(globalThis, 'clearTimeout');
    await validateFiles(['written-module.mjs'], { cwd: fixtures });
    const ended = new Set(cleared.mock.calls.map(([timer]) => timer));
    expect(timers.mock.results.filter(({ value }) => !ended.has(value as NodeJS.Timeout))).toEqual(
      [],
    );
  });
});

describe('a sandbox is started, and has the handler or not', () => {
  const entry = (name: string, more: object): object => ({
    name,
    description: 'Does something.',
    module: './sandboxed.mjs',
    sandbox: { kind: 'thread' },
    parameters: { type: 'object', properties: { a: { type: 'string' } } },
    ...more,
  });
  const sandboxed = async (more: object) => {
    writeFileSync(join(folder, 'sandboxed.mjs'), 'export const run = () => 1; export const n = 1;');
    writeFileSync(join(folder, 'broken.mjs'), "throw new Error('no key');");
    const text = JSON.stringify({ tools: [entry('run', more)] });
    return validateText(text, { ending: '.json', timeoutMs: 60_000 });
  };

  test('it is, and its file says where tools run', async () => {
    const report = await sandboxed({});
    expect([report.passed, failedIn(report)]).toEqual([true, []]);
    expect(report.files[0]?.checks).toContainEqual({
      name: 'sandbox_loads',
      severity: 'error',
      passed: true,
      message: 'Its sandbox starts and has the handler.',
      tool: 'run',
    });
    expect(report.files[0]?.tools).toEqual([{ name: 'run', executor: 'thread' }]);
  });

  test.each([
    ['no such export', { function: 'ran' }, 'has no function as its export `ran`: it is nothing'],
    ['an export that is no function', { function: 'n' }, 'it is a value of type number'],
    ['a module that throws', { module: './broken.mjs' }, 'could not be imported: Error: no key'],
    [
      'a process without the export',
      { function: 'ran', sandbox: { kind: 'process' } },
      'has no function as its export `ran`',
    ],
  ])('%s', async (_, more, text) => {
    const report = await sandboxed(more);
    expect(failedIn(report)).toEqual(['sandbox_loads']);
    expect(report.files[0]?.errors).toEqual([
      expect.stringMatching(/^sandbox_loads \(run\): The tool's handler is not available: /),
    ]);
    expect(report.files[0]?.errors[0]).toContain(text);
  });
});

describe('the report as text', () => {
  test('a line for each file and each failed check, and a summary at the end', async () => {
    writeFileSync(join(folder, 'bad.mjs'), moduleOf({ parameters: '', mount: '', head: '' }));
    const report = await validateFiles(['bad.mjs', join(fixtures, 'setup.mjs'), 'nowhere.mjs'], {
      cwd: folder,
    });
    const lines = formatValidateReport(report).split('\n');
    expect(lines).toEqual([
      expect.stringMatching(/^passed bad\.mjs \(\d+ checks\)$/),
      expect.stringMatching(/^ {2}warning {2}entry_point_parameters {2}/),
      expect.stringMatching(/^ {2}warning {2}mount_available {9}/),
      expect.stringMatching(/^passed .*setup\.mjs \(\d+ checks\)$/),
      expect.stringMatching(/^FAILED nowhere\.mjs \(\d+ checks\)$/),
      expect.stringMatching(/^ {2}error {2}file_exists {2}/),
      '3 files, 1 of them failed: 1 error, 2 warnings.',
    ]);
  });

  test('says where tools run, unless all of them run in this process', async () => {
    const on = (name: string, way: string): string =>
      `defineTool({ name: '${name}', description: 'Does something.', ${way},
        parameters: { type: 'object', properties: { a: { type: 'string' } } } })`;
    const report = await validateText(
      `import { defineTool } from '${core}';
       const execute = async () => 1;
       export const a = ${on('here', 'handler: execute')};
       export const b = ${on('fast', "executor: { kind: 'thread', execute }")};
       export const c = ${on('own', 'executor: { execute }')};
       export const d = ${on('foreign', 'external: true')};
       export const e = ${on('second', "executor: { kind: 'thread', execute }")};`,
    );
    expect(report.files[0]?.tools).toEqual([
      { name: 'here', executor: 'inline' },
      { name: 'fast', executor: 'thread' },
      { name: 'own', executor: 'custom' },
      { name: 'foreign', executor: 'external' },
      { name: 'second', executor: 'thread' },
    ]);
    expect(formatValidateReport(report).split('\n').slice(1, -1)).toEqual([
      '  runs in inline: here',
      '  runs in thread: fast, second',
      '  runs in custom: own',
      '  runs in external: foreign',
    ]);
  });

  test('what was validated writes no line of its own and commands no terminal', async () => {
    const text = formatValidateReport(
      await validateText(`throw new Error('one\\n3 files, passed: 0 errors.\\u001b[2J\\u202e');`),
    );
    expect(text.split('\n')).toHaveLength(3);
    expect(text).not.toContain('\u001b');
    expect(text).not.toContain('\u202e');
  });
});

test('docs/validating.md has a line for each check, with its severity, and for no other', () => {
  const page = readFileSync(join(here, '../../../docs/validating.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z_]+)` \| (error|warning|info) \|/gm)].map(
    ([, name, severity]) => [name, severity],
  );
  expect(Object.fromEntries(rows)).toEqual(validateChecks);
  expect(rows).toHaveLength(Object.keys(validateChecks).length);
});
