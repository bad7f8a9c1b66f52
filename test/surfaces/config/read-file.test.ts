import { chmodSync, mkdirSync, readdirSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as Yaml from 'yaml';
import { defineTool, HostToolRegistry, isMisuseError } from '../../../src/index.ts';
import { loadHostTools } from '../../../src/surfaces/config/index.ts';
import { readJson } from '../../../src/surfaces/config/read-json.ts';
import { yamlReader } from '../../../src/surfaces/config/read-yaml.ts';
import { folder } from './folder.ts';

/** The most tokens of a file that are read. */
const maxTokens = 500_000;

/** A registry with something in it, and what a load must leave alone. */
function world() {
  const registry = new HostToolRegistry();
  registry.register(
    defineTool({
      name: 'mine',
      description: 'Mine.',
      parameters: { type: 'object' },
      handler: () => 'mine',
    }),
  );
  const { revision } = registry;
  const untouched = (): void => {
    expect(registry.listNames()).toEqual(['mine']);
    expect(registry.revision).toBe(revision);
  };
  return { registry, untouched };
}

const tool = '{ name: a, description: A., module: ./m.mjs }';
const laughs = `a: &a [${'x,'.repeat(9)}x]\n${['b', 'c', 'd', 'e', 'f', 'g', 'h']
  .map((name, at) => `${name}: &${name} [${`*${'abcdefg'[at]},`.repeat(9)}*${'abcdefg'[at]}]`)
  .join('\n')}\n`;

describe(
  'a file that cannot be read or parsed rejects with `file:line:column: what`, and nothing ' +
    'changed',
  () => {
    test.each([
      ['yaml', 'an unclosed list', 'tools: [\n  a,\n', '3:1'],
      ['yaml', 'a tab as indentation', 'tools:\n\t- a\n', '2:1', /[Tt]ab/],
      [
        'yaml',
        'nothing',
        '',
        '1:1',
        /expected a map with \$schema, tools, profiles, rules, quotas, mcpServers, store, code, credentials, openapi, audit, authorization, approvals, network, got nothing/,
      ],
      ['yaml', 'comments alone', '# tools:\n', '1:1', /got nothing/],
      ['yaml', 'a list', '- a\n', '1:1', /expected a map with .*, got an array of 1/],
      ['yaml', 'text', 'tools', '1:1', /got `tools` \(string\)/],
      [
        'yaml',
        'an unknown key',
        `tools: [${tool}]\nrule: []\n`,
        '2:1',
        /unknown key `rule`; did you mean `rules`\?/,
      ],
      [
        'yaml',
        'tools as a map',
        `rules: []\ntools:\n  a: 1\n`,
        '2:1',
        /expected `tools` to be a list, got an object/,
      ],
      [
        'yaml',
        'profiles as a list',
        'profiles: []',
        '1:1',
        /expected `profiles` to be a map of ids to profiles, got an array of 0/,
      ],
      ['yaml', 'rules as text', 'rules: deny', '1:1', /expected `rules` to be a list, got `deny`/],
      [
        'yaml',
        'a key given twice',
        `tools:\n  - name: a\n    description: b\n    name: c\n`,
        '4:5',
        /the key `name` is given twice/,
      ],
      [
        'yaml',
        'a section given twice',
        `rules: []\ntools: []\nrules: []\n`,
        '3:1',
        /the key `rules` is given twice/,
      ],
      [
        'yaml',
        'a second document',
        `tools: []\n---\nrules: []\n`,
        '2:1',
        /expected one document, got a second one/,
      ],
      [
        'yaml',
        'a tag',
        'tools:\n  - name: !!js/function x\n',
        '2:11',
        /[Uu]nresolved tag.*without tags/,
      ],
      ['yaml', 'a binary tag', 'tools: !!binary aGk=', '1:8', /without tags/],
      [
        'yaml',
        'a merge key',
        `tools: []\n<<: { rules: [] }\n`,
        '2:1',
        /merge keys \(`<<`\) are not supported/,
      ],
      [
        'yaml',
        'a merge key under YAML 1.1',
        `%YAML 1.1\n---\ntools: []\n<<: { rules: [] }\n`,
        '4:1',
        /merge keys \(`<<`\) are not supported/,
      ],
      [
        'yaml',
        'a merge key in a schema, which would check nothing',
        `tools:\n  - parameters:\n      <<: { type: object }\n`,
        '3:7',
        /merge keys \(`<<`\) are not supported/,
      ],
      [
        'yaml',
        'a tag of the core schema',
        'tools:\n  - requires_approval: !!bool "true"\n',
        '2:5',
        /the tag tag:yaml.org,2002:bool is not supported/,
      ],
      ['yaml', 'a tag that says nothing', 'tools: ! 12', '1:1', /the tag ! is not supported/],
      ['yaml', 'a tag of a key', '!!str tools: []', '1:7', /the tag .* is not supported/],
      [
        'yaml',
        'a long key given twice',
        `{ ${'k'.repeat(500)}: 1, ${'k'.repeat(500)}: 2 }`,
        undefined,
        /^the key `k{57}\.\.\.` is given twice$/,
      ],
      [
        'yaml',
        'an alias without an anchor',
        'tools: *gone',
        '1:8',
        /there is no anchor `&gone` before this alias/,
      ],
      [
        'yaml',
        'an alias of what it stands in',
        'tools: &a [*a]',
        '1:12',
        /is used inside the value/,
      ],
      [
        'yaml',
        'a billion laughs',
        laughs,
        undefined,
        /more than 200000 values, counting each use of an alias/,
      ],
      ['yaml', 'a key that is a list', '? [a]\n: b\n', '1:3', /expected a key that is a string/],
      ['yaml', 'a key that is null', '~: b\n', '1:1', /expected a key that is a string/],
      [
        'yaml',
        'a number that JSON has not',
        'tools:\n  - .inf\n',
        '2:5',
        /Infinity is not a JSON number/,
      ],
      [
        'yaml',
        'too deep nesting',
        `tools: ${'['.repeat(150)}${']'.repeat(150)}`,
        '1:107',
        /nested deeper than 100 levels/,
      ],
      ['yaml', 'far too deep nesting', '['.repeat(50_000), undefined],
      ['yaml', 'bytes that are no text', new Uint8Array([0x74, 0xff, 0xfe]), '1:1', /not UTF-8/],
      ['yaml', 'too many bytes', '#'.repeat(4_000_001), '1:1', /more than 4000000 bytes/],
      ['json', 'nothing', '', '1:1', /expected a value, got the end of the file/],
      ['json', 'an unclosed list', '{\n  "tools": [\n', '3:1', /got the end of the file/],
      ['json', 'a comma at the end', '{ "tools": [1,] }', '1:15', /expected a value, got "\]"/],
      ['json', 'a comment', '// tools\n{}', '1:1', /expected a value, got "\/"/],
      ['json', 'a bare key', '{ tools: [] }', '1:3', /expected a key in double quotes, got "t"/],
      ['json', 'no colon', '{ "tools" [] }', '1:11', /expected `:`, got "\["/],
      ['json', 'no comma', '{ "tools": [] "rules": [] }', '1:15', /expected `,` or `}`/],
      ['json', 'no comma in a list', '{ "tools": [1 2] }', '1:15', /expected `,` or `\]`/],
      ['json', 'two values', '{} {}', '1:4', /expected the end of the file/],
      [
        'json',
        'an open string',
        '{ "tools\n": [] }',
        '1:9',
        /expected the end of a string, got "\\n"/,
      ],
      ['json', 'a bad escape', '{ "to\\qls": [] }', '1:3', /not a JSON string/],
      ['json', 'a bad number', '{ "tools": [01] }', '1:14', /expected `,` or `\]`, got "1"/],
      [
        'json',
        'a number that JSON cannot hold',
        '{ "rules": [1e400] }',
        '1:13',
        /1e400 is too large for a number/,
      ],
      [
        'json',
        'a key given twice',
        '{\n  "tools": [],\n  "to\\u006fls": []\n}',
        '3:3',
        /the key "tools" is given twice/,
      ],
      [
        'json',
        'a key given twice further in',
        '{ "tools": [{ "a": 1, "a": 2 }] }',
        '1:23',
        /the key "a" is given twice/,
      ],
      [
        'json',
        'an unknown key',
        '{\n  "tols": []\n}',
        '2:3',
        /unknown key `tols`; did you mean `tools`\?/,
      ],
      [
        'json',
        'an own __proto__ at the top',
        '{ "__proto__": { "tools": [] } }',
        '1:3',
        /unknown key `__proto__`/,
      ],
      ['json', 'null', 'null', '1:1', /got nothing/],
      [
        'json',
        'far too deep nesting',
        `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
        '1:101',
        /nested deeper than 100 levels/,
      ],
      [
        'json',
        'too many values',
        `[${'1,'.repeat(200_000)}1]`,
        undefined,
        /more than 200000 values/,
      ],
    ])('%s: %s', async (ending, _, content, place, what = /./) => {
      const { at } = folder({ [`a.${ending}`]: content });
      const { registry, untouched } = world();
      const error = await loadHostTools(at(`a.${ending}`), registry).catch(
        (reason: unknown) => reason,
      );
      expect(error).toMatchObject({ name: 'MisuseError', code: 'invalid_file' });
      const [, found, message] =
        /^.*\/a\.[a-z]+:(\d+:\d+): ([^\n]*)$/.exec((error as Error).message) ?? [];
      expect(found, (error as Error).message).toBe(place ?? found);
      expect(found).toMatch(/^\d/);
      expect(message).toMatch(what);
      untouched();
    });

    test.each([
      ['a key given twice', '{ "a\\u001b[2Jb": 1, "a\\u001b[2Jb": 2 }'],
      ['an unknown key', '{ "a\\u202eb\\u2028": 1 }'],
      [
        'an entry',
        '{ "tools": [{ "name": "a\\u001b[31m\\n", "description": "x", "module": ' +
          '"./m\\u001b.mjs", "exposure": "b\\nc" }] }',
      ],
    ])('what stands in a message is one visible line: %s', async (_, content) => {
      const { at } = folder({ 'a.json': content });
      const text = await loadHostTools(at('a.json'), new HostToolRegistry()).then(
        ({ failed }) => failed[0]!.reason,
        (error: Error) => error.message,
      );
      expect(text).not.toMatch(/[\p{Cc}\p{Zl}\p{Bidi_Control}]/u);
    });

    test('a file that is not there', async () => {
      const { at } = folder();
      const { registry, untouched } = world();
      await expect(loadHostTools(at('gone.yaml'), registry)).rejects.toMatchObject({
        code: 'invalid_file',
        message: `${at('gone.yaml')}:1:1: there is no such file`,
      });
      untouched();
    });

    test('a folder', async () => {
      const { at } = folder();
      mkdirSync(at('a.yaml'));
      await expect(loadHostTools(at('a.yaml'), new HostToolRegistry())).rejects.toMatchObject({
        code: 'invalid_file',
        message: expect.stringContaining('cannot be read (EISDIR)'),
      });
    });

    test.skipIf(process.getuid?.() === 0)('a file that may not be read', async () => {
      const { at } = folder({ 'a.yaml': 'tools: []' });
      chmodSync(at('a.yaml'), 0);
      await expect(loadHostTools(at('a.yaml'), new HostToolRegistry())).rejects.toMatchObject({
        code: 'invalid_file',
        message: expect.stringContaining('EACCES'),
      });
    });
  },
);

describe('what may be written', () => {
  test.each([
    ['json', 'an empty object', '{}'],
    ['json', 'a byte order mark', '\uFEFF{ "tools": [] }'],
    ['yaml', 'a byte order mark', '\uFEFFtools: []\n'],
    ['yaml', 'empty sections', 'tools:\nprofiles:\nrules:\n'],
    ['yaml', 'Windows line ends', 'tools: []\r\nrules: []\r\n'],
    ['yaml', 'the mark of a schema', '# yaml-language-server: $schema=./x.json\ntools: []\n'],
  ])('%s: %s', async (ending, _, content) => {
    const { at } = folder({ [`a.${ending}`]: content });
    expect(await loadHostTools(at(`a.${ending}`), new HostToolRegistry())).toMatchObject({
      loaded: [],
      failed: [],
    });
  });

  test('anchors and aliases, up to the bound', async () => {
    const { at } = folder({
      'a.yaml': `
tools:
  - &first { name: a, description: A., module: ./m.mjs, parameters: &any { type: object } }
  - { name: b, description: B., module: ./m.mjs, parameters: *any }
`,
      'm.mjs': 'export default () => 1',
    });
    expect(await loadHostTools(at('a.yaml'), new HostToolRegistry())).toMatchObject({
      loaded: ['a', 'b'],
      failed: [],
    });
  });

  test('YAML 1.2: `yes` and `on` are text, whatever the file says of its version', async () => {
    const read = await yamlReader();
    expect(
      read('%YAML 1.1\n---\n{ a: yes, b: on, c: 0o14, d: 2020-01-01, e: ~, 1: x, true: y }').value,
    ).toEqual({
      a: 'yes',
      b: 'on',
      c: 12,
      d: '2020-01-01',
      e: null,
      1: 'x',
      true: 'y',
    });
  });

  test('the entry’s line is that of its first character, in JSON as in YAML', async () => {
    const json = folder({ 'a.json': '{ "rules": [\n\n  {}\n], "profiles": {\n "p"\n:{} } }' });
    const yaml = folder({ 'a.yaml': 'rules:\n\n  - {}\n\nprofiles:\n  p:\n\n    {}\n' });
    expect(
      (await loadHostTools(json.at('a.json'), new HostToolRegistry())).failed.map(
        ({ line }) => line,
      ),
    ).toEqual([3]);
    expect(
      (await loadHostTools(yaml.at('a.yaml'), new HostToolRegistry())).failed.map(
        ({ line }) => line,
      ),
    ).toEqual([3]);
  });
});

describe('YAML is bounded before anything is built from it', () => {
  /**
   * The package, with a count of the tokens that were taken from its lexer and of the documents
   * that were composed.
   */
  function counting() {
    const counted = { tokens: 0 };
    class Lexer extends Yaml.Lexer {
      override *lex(source: string, incomplete?: boolean) {
        for (const token of super.lex(source, incomplete)) {
          counted.tokens++;
          yield token;
        }
      }
    }
    return { counted, read: yamlReader(() => Promise.resolve({ ...Yaml, Lexer })) };
  }

  test.each([
    ['a flow list', `[${'1,'.repeat(1_900_000)}]`],
    ['commas', `[${','.repeat(3_900_000)}]`],
    ['a block list', '- 1\n'.repeat(900_000)],
    ['comments', `${'#\n'.repeat(1_900_000)}a: 1`],
    ['line breaks', `${'\n'.repeat(3_900_000)}a: 1`],
    ['documents', '---\n'.repeat(900_000)],
    ['anchors', '- &a\n'.repeat(700_000)],
  ])('in tokens: %s', async (_, text) => {
    const { counted, read } = counting();
    const parse = await read;
    expect(() => parse(text)).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/^more than 500000 tokens$|^expected one document/),
      }),
    );
    expect(counted.tokens).toBeLessThanOrEqual(maxTokens + 1);
  });

  test.each([
    ['flow lists', `tools: ${'['.repeat(1_900_000)}${']'.repeat(1_900_000)}`],
    ['flow maps', `tools: ${'{a: '.repeat(900_000)}${'}'.repeat(900_000)}`],
    ['lists on one line', '- '.repeat(1_900_000)],
    ['keys on one line', '? '.repeat(1_900_000)],
    ['blocks', Array.from({ length: 2_500 }, (_, level) => `${' '.repeat(level)}a:\n`).join('')],
  ])('in levels: %s', async (_, text) => {
    const { counted, read } = counting();
    const parse = await read;
    expect(() => parse(text)).toThrow(
      expect.objectContaining({ message: 'nested deeper than 100 levels' }),
    );
    expect(counted.tokens).toBeLessThan(2_000);
  });

  test('and as deep as it may be it is read', async () => {
    const { value } = (await yamlReader())(`${'- '.repeat(99)}- [x]`.replace('- [x]', '[x]'));
    expect(JSON.stringify(value)).toBe(`${'['.repeat(100)}"x"${']'.repeat(100)}`);
  });

  test('a file far larger than any by hand is read, in the most verbose style', async () => {
    const text = Array.from({ length: 70_000 }, (_, index) => `k${index}: 1`).join('\n');
    expect(Object.keys((await yamlReader())(text).value as object)).toHaveLength(70_000);
  });
});

describe('the optional package `yaml`', () => {
  const failing = (): Promise<never> =>
    Promise.reject(
      Object.assign(new Error(`Cannot find package 'yaml'`), { code: 'ERR_MODULE_NOT_FOUND' }),
    );

  test('that is there and fails to load is not to be installed again', async () => {
    await expect(
      yamlReader(() => Promise.reject(new TypeError('no such export'))),
    ).rejects.toMatchObject({
      code: 'missing_dependency',
      message: expect.stringContaining(
        '`yaml`, which reads YAML files, is installed and failed to load: no such export',
      ),
    });
  });

  test('missing, it is named with the line that installs it', async () => {
    await expect(yamlReader(failing)).rejects.toMatchObject({
      code: 'missing_dependency',
      message: expect.stringContaining('`npm install yaml`'),
      cause: expect.any(Error),
    });
  });

  test('JSON needs no package', () => {
    expect(readJson('{ "tools": [] }').value).toEqual({ tools: [] });
  });
});

describe('whatever the file holds', () => {
  const key = fc.constantFrom(
    'tools',
    'profiles',
    'rules',
    'name',
    'description',
    'module',
    'function',
    'effect',
    'extends',
    'limits',
    'when',
    '__proto__',
    'constructor',
    'x',
  );
  const leaf = fc.oneof(
    fc.constantFrom('a', 'deny', './m.mjs', './bad.mjs', '*', 'tools', ''),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.string(),
  );
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      fc.array(tie('tree'), { maxLength: 4 }),
      fc
        .array(fc.tuple(key, tie('tree')), { maxLength: 5 })
        .map((members) => Object.fromEntries(members)),
    ),
  }));
  const modules = { 'm.mjs': 'export default () => 1', 'bad.mjs': 'throw 1' };

  const check = async (name: string, content: string | Uint8Array): Promise<void> => {
    const { at, write } = files;
    write({ [name]: content });
    const registry = new HostToolRegistry();
    try {
      const { loaded, failed, profiles, rules } = await loadHostTools(at(name), registry);
      expect(registry.listNames()).toEqual(loaded);
      if (failed.some(({ section }) => section === 'rules'))
        expect([loaded, profiles, rules]).toEqual([[], [], 0]);
      for (const id of profiles) expect(registry.profile(id)).toBeDefined();
    } catch (error) {
      expect(isMisuseError(error), String((error as Error).stack)).toBe(true);
      expect(registry.revision).toBe(0);
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  };
  let files: ReturnType<typeof folder>;

  test('garbage never half-loads, and throws nothing but MisuseError', async () => {
    files = folder(modules);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('a.json', 'a.yaml'),
        fc.oneof(fc.string({ maxLength: 200 }), fc.uint8Array({ maxLength: 100 })),
        check,
      ),
      {
        numRuns: 150,
      },
    );
    expect(readdirSync(files.path).sort()).toEqual(expect.arrayContaining(['bad.mjs', 'm.mjs']));
  });

  test('nor does what is nearly a file', async () => {
    files = folder(modules);
    const sections = fc.record(
      {
        tools: fc.oneof(fc.array(tree, { maxLength: 4 }), tree),
        profiles: tree,
        rules: fc.oneof(fc.constant([]), tree),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('a.json', 'a.yaml'), sections, (name, content) =>
        check(name, JSON.stringify(content)),
      ),
      { numRuns: 200 },
    );
  });

  test('JSON reads the same as YAML and as by JSON.parse', async () => {
    const read = await yamlReader(() => Promise.resolve(Yaml));
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(readJson(text).value).toEqual(JSON.parse(text));
        expect(JSON.stringify(read(text).value)).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  test('JSON is refused exactly where JSON.parse refuses it, but for keys given twice', () => {
    const char = fc.constantFrom(
      ...'{}[]",:\\ \nu0019.eE+-tfrn'.split(''),
      'true',
      'false',
      'null',
      '"a"',
      '"b"',
    );
    fc.assert(
      fc.property(fc.array(char, { maxLength: 12 }), (chars) => {
        const text = chars.join('');
        const accepts = (parse: () => unknown): boolean => {
          try {
            parse();
            return true;
          } catch (error) {
            return /given twice/.test((error as Error).message);
          }
        };
        const ours = accepts(() => readJson(text));
        const theirs = accepts(() => JSON.parse(text));
        if (ours !== theirs) expect(text).toBe(`read alike (${ours} here)`);
      }),
      { numRuns: 2_000 },
    );
  });
});
