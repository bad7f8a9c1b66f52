import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HostToolRegistry } from '../../../src/index.ts';
import { loadHostTools } from '../../../src/surfaces/config/index.ts';
import { readRules } from '../../../src/surfaces/config/read-rules.ts';
import { folder } from './folder.ts';

/** The failures of a file. */
async function failuresOf(name: 'a.yaml' | 'a.json', text: string) {
  const { at } = folder({ [name]: text });
  const { failed } = await loadHostTools(at(name), new HostToolRegistry());
  return failed;
}

/** The line that is marked with `# wrong`. */
function wrongLine(text: string): number {
  return text.split('\n').findIndex((line) => line.includes('# wrong')) + 1;
}

const tool = `tools:
  - name: greet
    description: Greets.
    external: true
`;

describe('an entry that does not load has the line of the field that is wrong', () => {
  test.each([
    ['a value', `${tool}    title: x\n    timeout: 5x # wrong\n`],
    ['a missing field: the entry', 'tools:\n\n  - description: x # wrong\n    external: true\n'],
    ['an unknown key', `${tool}    title: x\n    titel: x # wrong\n    tags: []\n`],
    [
      'an unknown key inside',
      `${tool}    requiresApproval:\n      title: x\n      risc: low # wrong\n`,
    ],
    ['an item', `${tool}    tags:\n      - a\n      - 3 # wrong\n      - b\n`],
    ['a misspelt name of a field', `${tool}    annotations:\n      readonly: true # wrong\n`],
    ['two names', `${tool}    timeoutMs: 5\n    title: x\n    timeout: 5s # wrong\n`],
    [
      'a JSON Schema',
      `${tool}    parameters:
      type: object
      properties:
        'a.b/c~d':
          type: array
          items: { anyOf: [{ type: string },
            { type: strin }] } # wrong
`,
    ],
    [
      'a schema that is of no object',
      `${tool}    title: x\n    parameters: { type: string } # wrong\n`,
    ],
    ['an effect', 'rules:\n  - id: a\n    tools: x\n    effect: dney # wrong\n'],
    [
      'a test in a rule',
      'rules:\n  - effect: deny\n    when:\n      a.b: { exists: true }\n      c:\n        not: { gt: x } # wrong\n',
    ],
    [
      'a pattern, which only compiling finds',
      'rules:\n  - id: a\n    effect: deny\n    when:\n      a.b: { exists: true }\n      c.d:\n        matches: "([" # wrong\n',
    ],
    [
      'a test that this effect cannot have',
      'rules:\n  - id: effect\n    effect: allow\n    facts:\n      a.b: 1\n      c: { alike: x } # wrong\n',
    ],
    ['a window', 'quotas:\n  - id: a\n    max: 3\n    by: session\n    per: week # wrong\n'],
    [
      'whose calls count together',
      'quotas:\n  - id: a\n    max: 3\n    per: session\n    by: principal # wrong\n',
    ],
    [
      'a rule of a profile',
      `${tool}profiles:\n  a:\n    tools: [greet]\n    rules:\n      - effect: deny\n        tols: x # wrong\n`,
    ],
    [
      'a tool of a profile',
      `${tool}profiles:\n  a:\n    rules: []\n    tools: [greet, gret] # wrong\n`,
    ],
    ['a parent', `profiles:\n  a:\n    tools: []\n    extends: b # wrong\n`],
    [
      'a value behind an alias',
      `${tool}    title: x\n    tags: &t\n      - 3 # wrong\n    uses: [a]\n`,
    ],
  ])('%s', async (_, text) => {
    const failed = await failuresOf('a.yaml', text);
    expect(failed.map(({ line }) => line)).toEqual([wrongLine(text)]);
  });

  test('in YAML and JSON, however deep the field is and wherever lines break', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('not', 'size', 'any'), { maxLength: 12 }),
        fc.array(fc.nat(3), { minLength: 14, maxLength: 14 }),
        async (steps, gaps) => {
          const gap = (at: number): string => '\n'.repeat((gaps[at] ?? 0) + 1);
          let yaml = `rules:${gap(0)}  - effect: deny${gap(1)}    when:${gap(2)}      a:${gap(3)}`;
          let json = `{ "rules": [{ "effect": "deny",${gap(1)}"when": {${gap(2)}"a": {`;
          let end = '';
          steps.forEach((step, at) => {
            const indent = ' '.repeat(8 + 4 * at);
            // An item of a list has the indentation of the next step.
            yaml += `${indent}${step}:${step === 'any' ? ` # a list\n${indent}  -${gap(at)}` : gap(at)}`;
            json += `${gap(at)}"${step}": ${step === 'any' ? '[' : ''}{`;
            end = `}${step === 'any' ? ']' : ''}${end}`;
          });
          yaml += `${' '.repeat(8 + 4 * steps.length)}gt: x # wrong\n`;
          json += `${gap(0)}"gt": "x"`;
          const line = json.split('\n').length;
          json += `${end}${gap(1)}} } }] }`;
          expect(await failuresOf('a.yaml', yaml)).toMatchObject([{ line: wrongLine(yaml) }]);
          expect(await failuresOf('a.json', json)).toMatchObject([{ line }]);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('further faults of the entry have their line in the text', async () => {
    const [failed] = await failuresOf(
      'a.yaml',
      `${tool}    timeout: 5x\n    tags: x\n    version: 1.2\n`,
    );
    expect(failed?.line).toBe(5);
    expect(failed?.reason).toMatch(/^`timeout`: [^;]+; line 6: `tags`: [^;]+; line 7: `version`: /);
  });

  test('rules that are read alone, too', async () => {
    const { at } = folder({ 'a.yaml': 'rules:\n  - id: a\n    effect: dney\n' });
    await expect(readRules(at('a.yaml'))).rejects.toThrow('a.yaml:3: rules[0]: `effect`: expected');
  });
});

describe('one mistake is reported once', () => {
  test.each([
    ['a test', 'rules:\n  - effect: deny\n    when:\n      a: { gtt: 1 }\n', 'gt'],
    ['a required field', 'rules:\n  - efect: deny\n', 'effect'],
    ['a required field inside', `${tool}    requiresApproval: { titel: x }\n`, 'title'],
    ['one of two fields', `${tool}    requires: [{ fact: a, equal: 1 }]\n`, 'equals'],
  ])('%s whose name is misspelt', async (_, text, meant) => {
    const failed = await failuresOf('a.yaml', text);
    expect(failed).toHaveLength(1);
    expect(failed[0]?.reason).toMatch(
      new RegExp(`^(?:\`[^\`]+\`: )?unknown key \`\\w+\`; did you mean \`${meant}\`\\?$`),
    );
  });

  test.each([
    ['dney', 'rules:\n  - effect: dney\n', /`allow` or `ask` or `deny`, got `dney` .*`deny`\?$/],
    ['per: days', 'quotas:\n  - { id: a, max: 3, by: session, per: days }\n', /mean `day`\?$/],
    [
      'per: week',
      'quotas:\n  - { id: a, max: 3, by: session, per: week }\n',
      /\{ ms: 604800000 \}/,
    ],
    ['by: sesion', 'quotas:\n  - { id: a, max: 3, by: sesion, per: day }\n', /mean `session`\?$/],
  ])('the expected words are in it: %s', async (_, text, reason) => {
    const failed = await failuresOf('a.yaml', text);
    expect(failed.map((one) => one.reason)).toEqual([expect.stringMatching(reason)]);
  });
});
