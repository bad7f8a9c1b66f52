import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { HostToolRegistry } from '../../../src/index.ts';
import { fileJsonSchema } from '../../../src/surfaces/config/format.ts';
import { loadHostTools } from '../../../src/surfaces/config/index.ts';
import { fencesOf, root } from '../../docs/pages.ts';
import { folder } from './folder.ts';

const validate = new Ajv({ allowUnionTypes: true, strict: false }).compile(fileJsonSchema());
const page = readFileSync(join(root, 'docs/files.md'), 'utf8');
/** What the page shows of files: whole ones, and parts under their section's name. */
const examples = fencesOf(page).filter(({ info }) => info === 'yaml' || info === 'json');

/** Each member and each definition on a line, since every install brings the file along. */
function lines(value: object): string {
  const members = Object.entries(value).map(([key, item]) => {
    const text = key === 'definitions' ? lines(item) : JSON.stringify(item);
    return `${JSON.stringify(key)}:${text}`;
  });
  return `{\n${members.join(',\n')}\n}`;
}

describe('host-tools.schema.json', () => {
  // `npx vitest run test/surfaces/config/json-schema.test.ts -u` writes the file anew.
  test('is what the format says', async () => {
    await expect(`${lines(fileJsonSchema())}\n`).toMatchFileSnapshot(
      '../../../host-tools.schema.json',
    );
  });

  test('every key is described, and no object takes keys that it does not know', () => {
    const silent: string[] = [];
    const walk = (node: unknown, path: string): void => {
      if (typeof node !== 'object' || node === null) return;
      const { properties, additionalProperties } = node as {
        properties?: Record<string, { description?: string; $ref?: string }>;
        additionalProperties?: unknown;
      };
      if (properties !== undefined && additionalProperties !== false) silent.push(`${path}: open`);
      for (const [key, property] of Object.entries(properties ?? {}))
        if (property.description === undefined) silent.push(`${path}.${key}`);
      // What a tool's own schemas may say, JSON Schema says.
      for (const [key, child] of Object.entries(node))
        if (key !== 'allOf') walk(child, `${path}/${key}`);
    };
    walk(fileJsonSchema(), '');
    expect(silent).toEqual([]);
  });

  test.each([
    ['an unknown section', { rule: [] }],
    ['an unknown key of a tool', { tools: [{ name: 'a', module: 'b', parms: {} }] }],
    ['no module', { tools: [{ name: 'a' }] }],
    ['timeout 0', { tools: [{ name: 'a', module: 'b', timeout: 0 }] }],
    ['two spellings', { tools: [{ name: 'a', module: 'b', timeout: 1, timeoutMs: 1_000 }] }],
    [
      'two other spellings',
      { tools: [{ name: 'a', module: 'b', requires_approval: true, requiresApproval: true }] },
    ],
    ['a time without a unit', { tools: [{ name: 'a', module: 'b', timeout: '5' }] }],
    [
      'both names of the input',
      { tools: [{ name: 'a', module: 'b', parameters: {}, inputSchema: {} }] },
    ],
    [
      'both names of a hint',
      { tools: [{ name: 'a', module: 'b', annotations: { readOnly: true, readOnlyHint: true } }] },
    ],
    [
      'a limit of a server twice',
      { mcpServers: { a: { command: 'b', labels: { c: { timeout: '1s', timeoutMs: 1 } } } } },
    ],
    [
      'a limit of a profile in seconds',
      { profiles: { p: { tools: [{ name: 'a', timeout: 5 }] } } },
    ],
    [
      'a hint of MCP in a rule',
      { rules: [{ effect: 'deny', annotations: { readOnlyHint: true } }] },
    ],
    ['a rule without an effect', { rules: [{ tools: 'a' }] }],
    ['a rule without a test', { rules: [{ effect: 'deny', when: { a: {} } }] }],
    ['a bound that is no number', { rules: [{ effect: 'deny', when: { a: { gt: '1' } } }] }],
    ['a nested test without a test', { rules: [{ effect: 'deny', when: { a: { not: {} } } }] }],
    ['a profile with neither tools nor a parent', { profiles: { p: {} } }],
    [
      'a schema of no object',
      { tools: [{ name: 'a', module: 'b', parameters: { type: 'string' } }] },
    ],
    [
      'a schema that is none',
      {
        tools: [{ name: 'a', module: 'b', parameters: { properties: { x: { type: 'integr' } } } }],
      },
    ],
    ['an approval in words', { tools: [{ name: 'a', module: 'b', requires_approval: 'yes' }] }],
    ['a blank name', { tools: [{ name: ' ', module: 'b' }] }],
    ['a condition without a path', { rules: [{ effect: 'deny', when: {} }] }],
    ['conditions that are none', { rules: [{ effect: 'deny', when: [] }] }],
    ['a path without a name', { rules: [{ effect: 'deny', when: { 'a..b': 1 } }] }],
    ['a test that nothing can pass', { rules: [{ effect: 'deny', when: { a: { in: [] } } }] }],
    ['annotations that say nothing', { rules: [{ effect: 'deny', annotations: {} }] }],
    [
      'a key of a map that could be the profile’s or the tool’s',
      { profiles: { p: { tools: { a: { timeoutMs: 5 } } } } },
    ],
    ['a knob beside `knobs`', { profiles: { p: { tools: { a: { knobs: {}, push: true } } } } }],
    ['no parents', { profiles: { p: { extends: [] } } }],
    [
      'an approval that a profile lifts',
      { profiles: { p: { tools: [{ name: 'a', requiresApproval: false }] } } },
    ],
  ])('refuses %s', (_, content) => {
    expect(validate(content)).toBe(false);
  });

  test.each<[string, object]>([
    ['a time with its unit', { timeout: '2.5 m' }],
    ['a time in seconds', { timeout: 2.5 }],
    ['names of other libraries', { inputSchema: { type: 'object' }, needsApproval: true }],
    ['hints of MCP', { annotations: { readOnlyHint: true, openWorld: false } }],
  ])('takes a tool with %s', (_, entry) => {
    expect(validate({ tools: [{ name: 'a', module: 'b', ...entry }] })).toBe(true);
  });

  test.each([
    ['knobs', { push: true }],
    ['`knobs`', { knobs: { push: true } }],
    ['`knobs` with more', { knobs: {}, timeoutMs: 5, optional: true }],
    ['nothing', null],
  ])('takes a tool of a map with %s', (_, tool) => {
    expect(validate({ profiles: { p: { tools: { a: tool } } } })).toBe(true);
  });

  test('leads from the package: `host-tools/host-tools.schema.json`', () => {
    const { exports, files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      exports: Record<string, string>;
      files: string[];
    };
    expect(exports['./host-tools.schema.json']).toBe('./host-tools.schema.json');
    expect(files).toContain('host-tools.schema.json');
  });
});

describe('docs/files.md', () => {
  test('shows examples', () => {
    expect(examples.length).toBeGreaterThan(2);
  });

  test.each(examples.map((example) => [`line ${example.line}`, example] as const))(
    '%s: the example satisfies the schema',
    (_, { info, code }) => {
      expect(
        validate(info === 'json' ? JSON.parse(code) : parse(code)),
        JSON.stringify(validate.errors),
      ).toBe(true);
    },
  );

  test.each([
    ['its first example', 0, { 'greet.mjs': 'export const greet = ({ name }) => name;' }, 0],
    [
      'the example with profiles and rules',
      1,
      {
        'tools/database.mjs':
          'export const queryHandler = () => []; export const git = () => null;',
        'tools/files.mjs': 'export const read_file = () => null;',
      },
      1,
    ],
  ])('%s loads whole', async (_, index, modules, least) => {
    const { at } = folder({ 'host-tools.yaml': examples[index]!.code, ...modules });
    const registry = new HostToolRegistry();
    const report = await loadHostTools(at('host-tools.yaml'), registry);
    expect(report.failed).toEqual([]);
    expect(registry.listNames().length).toBeGreaterThan(0);
    expect(report.profiles.length).toBeGreaterThanOrEqual(least);
    expect(report.rules).toBeGreaterThanOrEqual(least);
  });

  test('names every key of the format', () => {
    const { definitions } = fileJsonSchema() as {
      definitions: Record<string, { properties?: object }>;
    };
    const keys = Object.values(definitions).flatMap(({ properties }) =>
      Object.keys(properties ?? {}),
    );
    expect(keys.filter((key) => !page.includes(`\`${key}`) && !page.includes(`${key}\``))).toEqual(
      [],
    );
  });
});
