import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';
import { loadHostTools } from '../../../src/surfaces/config/index.ts';
import { folder, libraryUrl } from './folder.ts';

const handlers = `
  export const query_handler = (input, context) => ({ sql: input.sql ?? null, session: context.sessionId });
  export const echo = (input) => input;
  export const slow = (_, { signal }) => new Promise((resolve, reject) => { signal.addEventListener('abort', () => reject(signal.reason)); });
  export const knobs = (_, context) => context.knobs;
  export default () => 'the default';
`;
const echo = { name: 'echo', description: 'Says it again.', module: './handlers.mjs' };

function sessionOf(registry: HostToolRegistry, options: object = {}) {
  return registry.createSession({ sessionId: 's', services: undefined, ...options });
}

describe('an external tool', () => {
  const external = { name: 'Bash', description: 'Runs a command.', external: true };

  test('needs no module, and is asked about by `authorize`', async () => {
    const { at } = folder({
      'a.json': { tools: [external], rules: [{ effect: 'deny', when: { command: 'rm' } }] },
    });
    const registry = new HostToolRegistry();
    const { loaded, failed } = await loadHostTools(at('a.json'), registry);
    expect([loaded, failed]).toEqual([['Bash'], []]);
    const session = sessionOf(registry);
    const permission = await session.authorize('Bash', { command: 'ls' });
    expect(permission.allowed).toBe(true);
    if (permission.allowed) await permission.settle({ output: '' });
    expect((await session.authorize('Bash', { command: 'rm' })).allowed).toBe(false);
    expect((await session.call('Bash', { command: 'ls' })).error?.reason).toBe('external');
  });

  test('stays registered when the file is loaded again, unless its entry has changed', async () => {
    const { at, write } = folder({ 'a.json': { tools: [external] } });
    const registry = new HostToolRegistry();
    await loadHostTools(at('a.json'), registry);
    const first = registry.get('Bash');
    await loadHostTools(at('a.json'), registry);
    expect(registry.get('Bash')).toBe(first);
    write({ 'a.json': { tools: [{ ...external, timeout: 5 }] } });
    await loadHostTools(at('a.json'), registry);
    expect(registry.get('Bash')).not.toBe(first);
  });

  test.each([
    [{ ...external, module: './a.mjs' }, '`module` is for tools that run here; leave it out'],
    [{ ...external, function: 'run' }, '`function` is for tools that run here; leave it out'],
    [{ name: 'Bash', description: 'x' }, 'expected `module`, or `external: true` for a tool'],
    [{ ...external, external: false }, 'external'],
    [{ name: 'Bash', external: true }, '`description`'],
  ])('%j says who runs it, once', async (entry, reason) => {
    const { at } = folder({ 'a.json': { tools: [entry] } });
    const { failed } = await loadHostTools(at('a.json'), new HostToolRegistry());
    expect(failed).toMatchObject([{ section: 'tools', index: 0 }]);
    expect(failed[0]?.reason).toContain(reason);
  });

  test('is not needed: a file may hold rules alone', async () => {
    const { at } = folder({ 'a.json': { rules: [{ id: 'a', effect: 'deny', tools: 'x' }] } });
    const report = await loadHostTools(at('a.json'), new HostToolRegistry());
    expect(report).toMatchObject({ loaded: [], failed: [], rules: 1 });
  });
});

describe('a file of tools', () => {
  test('the file of the first design loads as it was written there', async () => {
    const { path, at } = folder({
      'my-tools.yaml': `tools:
  - name: my_database_query
    description: "Query the application database"
    module: handlers.mjs
    function: query_handler
    parameters:
      type: object
      properties:
        sql:
          type: string
          description: "SQL query to execute"
      required: [sql]
    requires_approval: false
    timeout: 1.5
    category: database
`,
      'handlers.mjs': handlers,
    });
    const registry = new HostToolRegistry();
    const report = await loadHostTools(at('my-tools.yaml'), registry);
    expect(report).toEqual({
      file: `${path}/my-tools.yaml`,
      loaded: ['my_database_query'],
      failed: [],
      profiles: [],
      rules: 0,
    });
    expect(registry.get('my_database_query')).toMatchObject({
      category: 'database',
      description: 'Query the application database',
    });
    const session = sessionOf(registry);
    expect((await session.call('my_database_query', { sql: 'select 1' })).output).toEqual({
      sql: 'select 1',
      session: 's',
    });
    expect((await session.call('my_database_query', {})).error?.code).toBe('invalid_input');
  });

  test.each([
    ['an absolute path', (path: string) => path],
    ['a file URL', (path: string) => pathToFileURL(path)],
    ['the text of a file URL', (path: string) => pathToFileURL(path).href],
  ])('is named by %s', async (_, by) => {
    const { at } = folder({ 'a.json': { tools: [echo] }, 'handlers.mjs': handlers });
    expect((await loadHostTools(by(at('a.json')), new HostToolRegistry())).loaded).toEqual([
      'echo',
    ]);
  });

  test.each(['a.json', 'a.JSON', 'a.yaml', 'a.yml', 'a.conf'])(
    '%s: JSON by its ending, else YAML, of which JSON is a part',
    async (name) => {
      const { at } = folder({
        [name]: { $schema: './x.json', tools: [echo], profiles: null, rules: [] },
        'handlers.mjs': handlers,
      });
      expect((await loadHostTools(at(name), new HostToolRegistry())).loaded).toEqual(['echo']);
    },
  );

  test('parameters default to any object', async () => {
    const { at } = folder({ 'a.json': { tools: [echo] }, 'handlers.mjs': handlers });
    const registry = new HostToolRegistry();
    await loadHostTools(at('a.json'), registry);
    expect(registry.get('echo')?.parameters).toMatchObject({ type: 'object' });
    expect((await sessionOf(registry).call('echo', { any: 1 })).output).toEqual({ any: 1 });
  });

  test('every key reaches the tool', async () => {
    const { at } = folder({
      'a.json': {
        tools: [
          {
            ...echo,
            title: 'Echo',
            version: '1',
            category: 'c',
            tags: ['t'],
            annotations: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
            parameters: {
              type: 'object',
              properties: { a: { type: 'integer', default: 3 } },
              additionalProperties: false,
            },
            outputSchema: { type: 'object', required: ['a'] },
            timeoutMs: 1_000,
            idleTimeoutMs: 500,
            requires: [
              { fact: 'f', equals: true },
              { fact: 'g', in: ['x', null] },
            ],
            provides: ['h'],
            uses: ['other'],
            events: ['e'],
            exposure: 'model',
            parallelSafe: false,
            resourceKey: 'k',
            maxConcurrency: 2,
            maxOutputChars: 10_000,
            outputStrategy: 'head_tail',
            requiresApproval: { title: 'Sure?', message: 'Really', risk: 'low' },
            policy: { knobs: { type: 'object' } },
          },
        ],
      },
      'handlers.mjs': handlers,
    });
    const registry = new HostToolRegistry();
    expect((await loadHostTools(at('a.json'), registry)).failed).toEqual([]);
    expect(registry.get('echo')).toMatchObject({
      title: 'Echo',
      version: '1',
      category: 'c',
      tags: ['t'],
      annotations: { readOnly: true, idempotent: true },
    });
    const asked: unknown[] = [];
    const session = sessionOf(registry, {
      facts: { f: true, g: 'y' },
      approver: (request: { title: string; message?: string; risk?: string }) => {
        asked.push([request.title, request.message, request.risk]);
        return 'allow_once';
      },
    });
    expect(session.effectiveTools().dropped).toEqual([{ name: 'echo', code: 'fact_unmet:g' }]);
    session.setFacts({ g: 'x' });
    expect((await session.call('echo', {})).output).toEqual({ a: 3 });
    expect(asked).toEqual([['Sure?', 'Really', 'low']]);
  });
});

describe('handlers from files run through the whole spine', () => {
  test('a timeout without a unit is in seconds', async () => {
    const { at } = folder({
      'a.yaml':
        'tools: [{ name: slow, description: Waits., module: ./handlers.mjs, timeout: 0.02 }]',
      'handlers.mjs': handlers,
    });
    const registry = new HostToolRegistry();
    await loadHostTools(at('a.yaml'), registry);
    const { error } = await sessionOf(registry).call('slow', {});
    expect(error).toMatchObject({ code: 'timeout' });
    expect(error?.message).toContain('timed out after 0.02s');
  });

  test.each(['requires_approval', 'requiresApproval'])('%s: true asks a person', async (key) => {
    const { at } = folder({
      'a.json': { tools: [{ ...echo, [key]: true }] },
      'handlers.mjs': handlers,
    });
    const registry = new HostToolRegistry();
    await loadHostTools(at('a.json'), registry);
    expect((await sessionOf(registry).call('echo', {})).error?.code).toBe('approval_denied');
    expect(
      (await sessionOf(registry, { approver: () => 'allow_once' }).call('echo', {})).success,
    ).toBe(true);
  });

  test('a rule of the file with `shadow` is tried and not enforced', async () => {
    const { at } = folder({
      'a.yaml': `
tools: [{ name: echo, description: Says it again., module: ./handlers.mjs }]
rules: [{ id: trial, effect: deny, shadow: true }]
`,
      'handlers.mjs': handlers,
    });
    const registry = new HostToolRegistry();
    await loadHostTools(at('a.yaml'), registry);
    expect((await sessionOf(registry).call('echo', {})).success).toBe(true);
    expect(registry.metrics().byRule).toEqual({ trial: { matched: 1, shadow: 1 } });
  });

  test('rules of the file hold for every session, `when` included', async () => {
    const { at } = folder({
      'a.yaml': `
tools:
  - { name: echo, description: Says it again., module: ./handlers.mjs }
rules:
  - id: no-dots
    effect: deny
    tools: echo
    when: { path: { matches: '\\.\\.' } }
    reason: dots_refused
`,
      'handlers.mjs': handlers,
    });
    const registry = new HostToolRegistry();
    expect((await loadHostTools(at('a.yaml'), registry)).rules).toBe(1);
    const session = sessionOf(registry);
    expect((await session.call('echo', { path: '../x' })).error).toMatchObject({
      code: 'policy_denied',
      reason: 'dots_refused',
      ruleId: 'no-dots',
    });
    expect((await session.call('echo', { path: 'x' })).success).toBe(true);
  });

  test('knobs of a raw schema reach the handler from the profile', async () => {
    const { at } = folder({
      'a.yaml': `
tools:
  - name: knobs
    description: Shows its knobs.
    module: ./handlers.mjs
    policy: { knobs: { type: object, properties: { allowed: { type: array, items: { type: string }, default: [] } }, additionalProperties: false } }
profiles:
  narrow: { tools: { knobs: { allowed: [log] } } }
`,
      'handlers.mjs': handlers,
    });
    const registry = new HostToolRegistry();
    expect((await loadHostTools(at('a.yaml'), registry)).failed).toEqual([]);
    expect((await sessionOf(registry, { profile: 'narrow' }).call('knobs', {})).output).toEqual({
      allowed: ['log'],
    });
    expect((await sessionOf(registry).call('knobs', {})).output).toEqual({ allowed: [] });
  });
});

describe('which export is the handler', () => {
  const module = `
    import { defineTool } from ${JSON.stringify(libraryUrl)};
    export const own = () => 'own';
    export const given = () => 'given';
    export const finished = defineTool({ name: 'finished', description: 'Finished.', parameters: { type: 'object' }, handler: () => 'finished' });
    export const text = 'text';
    export default () => 'default';
  `;
  const load = async (entry: object) => {
    const { at } = folder({
      'a.json': { tools: [{ module: './m.mjs', ...entry }] },
      'm.mjs': module,
    });
    const registry = new HostToolRegistry();
    const { failed } = await loadHostTools(at('a.json'), registry);
    return { registry, reason: failed[0]?.reason };
  };

  test.each([
    ['`function`', { name: 'own', function: 'given' }, 'given'],
    ['else the export named as the tool', { name: 'own' }, 'own'],
    ['else the default export', { name: 'other' }, 'default'],
  ])('%s', async (_, entry, output) => {
    const { registry } = await load({ description: 'It.', ...entry });
    expect((await sessionOf(registry).call(entry.name, {})).output).toBe(output);
  });

  test('a definition made by defineTool is registered as it is', async () => {
    const { registry } = await load({ name: 'finished' });
    expect(registry.get('finished')?.description).toBe('Finished.');
    expect((await sessionOf(registry).call('finished', {})).output).toBe('finished');
  });

  test.each([
    [
      'beside a definition only name, module and function may stand',
      { name: 'finished', description: 'Other.', timeout: 3 },
      /leave out description, timeout/,
    ],
    [
      'the name must be the definition’s',
      { name: 'own', function: 'finished' },
      /write `name: finished`/,
    ],
    [
      'an export that is missing is named with the nearest',
      { name: 'x', description: 'X.', function: 'givn' },
      /does not export `givn`, did you mean `function: given`\?/,
    ],
    [
      'what is no function is refused',
      { name: 'text', description: 'X.' },
      /expected the export `text` .* to be a function or a definition, got `text` \(string\)/,
    ],
    [
      'a handler needs a description',
      { name: 'own' },
      /expected `description` to be a non-blank string that tells the model what the tool does, got undefined/,
    ],
  ])('%s', async (_, entry, reason) => {
    expect((await load(entry)).reason).toMatch(reason);
  });

  test('a definition of another installed copy is refused with that reason', async () => {
    const { at } = folder({
      'a.json': { tools: [{ name: 'alien', module: './m.mjs' }] },
      'm.mjs':
        "export const alien = { name: 'alien', [Symbol.for('host-tools.definition')]: true " + '};',
    });
    const { failed } = await loadHostTools(at('a.json'), new HostToolRegistry());
    expect(failed[0]?.reason).toMatch(/`alien` was made by another installed copy/);
  });

  test('a CommonJS module gives its exports', async () => {
    const { at } = folder({
      'a.json': { tools: [{ name: 'cjs', description: 'C.', module: 'm.cjs' }] },
      'm.cjs': `const tools = { cjs: () => 'cjs' }; module.exports = tools;`,
    });
    const registry = new HostToolRegistry();
    expect((await loadHostTools(at('a.json'), registry)).failed).toEqual([]);
    expect((await sessionOf(registry).call('cjs', {})).output).toBe('cjs');
  });
});

describe('which module is meant', () => {
  const files = {
    'sub/a.json': '',
    'sub/near.mjs': `export default () => 'beside the file'`,
    'sub/plain': `module.exports = () => 'no ending'`,
    'node_modules/dual/package.json': {
      name: 'dual',
      exports: {
        '.': { types: './x.d.ts', require: './no.cjs', import: './index.mjs' },
        './tools/*': { import: './t/*.mjs' },
        './none': null,
      },
    },
    'node_modules/dual/index.mjs': `export default () => 'a package, as import sees it'`,
    'node_modules/dual/t/one.mjs': `export default () => 'a subpath'`,
    'node_modules/old/package.json': { name: 'old', main: './lib/main.js' },
    'node_modules/old/lib/main.js': `module.exports = () => 'a package with main'`,
    'node_modules/@s/p/package.json': { name: '@s/p', type: 'module', exports: './i.js' },
    'node_modules/@s/p/i.js': `export default () => 'a scoped package'`,
    'sub/node_modules/near.mjs/package.json': { name: 'near.mjs', main: 'x.js' },
  };
  const load = async (module: string) => {
    const { at, path, write } = folder(files);
    write({
      'sub/a.json': {
        tools: [{ name: 'it', description: 'It.', module: module.replace('FOLDER', path) }],
      },
    });
    const registry = new HostToolRegistry();
    const { failed } = await loadHostTools(at('sub/a.json'), registry);
    return failed[0]?.reason ?? (await sessionOf(registry).call('it', {})).output;
  };

  test.each([
    ['./near.mjs', 'beside the file'],
    ['near.mjs', 'beside the file'],
    ['../sub/near.mjs', 'beside the file'],
    ['FOLDER/sub/near.mjs', 'beside the file'],
    ['file://FOLDER/sub/near.mjs', 'beside the file'],
    ['dual', 'a package, as import sees it'],
    ['dual/tools/one', 'a subpath'],
    ['old', 'a package with main'],
    ['@s/p', 'a scoped package'],
  ])('%s', async (module, output) => {
    expect(await load(module)).toBe(output);
  });

  test.each([
    ['./gone.mjs', /^there is no file .*\/sub\/gone\.mjs$/],
    [
      'myapp.tools.database',
      /^there is no file .*, and no package `myapp\.tools\.database` that can be imported from .*\/sub$/,
    ],
    ['dual/other', /the package `dual` .* does not export `\.\/other`/],
    ['dual/none', /does not export/],
    ['node:fs', /`node:fs` is refused/],
    ['fs', /no package `fs`/],
    ['fs/promises', /no package `fs\/promises`/],
    [
      'https://example.com/x.mjs',
      /is refused: a module is a path relative to the file, or a package/,
    ],
    ['data:text/javascript,export default 1', /is refused/],
    ['file:///gone.mjs', /there is no file/],
    ['file://host/share', /not the URL of a file here|there is no file/],
    ['.', /neither a package\.json nor an index\.js/],
    ['', /`module`: expected a non-blank string/],
  ])('%s is refused', async (module, reason) => {
    expect(await load(module)).toMatch(reason);
  });

  test('a module that throws fails its entry with its message', async () => {
    const { at } = folder({
      'a.json': { tools: [{ ...echo, module: 'bad.mjs' }, echo] },
      'bad.mjs': `throw new Error('no database\\nat all')`,
      'handlers.mjs': handlers,
    });
    const { loaded, failed } = await loadHostTools(at('a.json'), new HostToolRegistry());
    expect(loaded).toEqual(['echo']);
    expect(failed[0]?.reason).toMatch(
      /^the module .*bad\.mjs cannot be loaded: no database \(at .*bad\.mjs:1:7\)$/,
    );
  });
});

describe('a broken entry', () => {
  test('is reported with file, line, index and reason; the others load', async () => {
    const { at } = folder({
      'a.yaml': `# Two of three.
tools:
  - name: echo
    description: Says it again.
    module: ./handlers.mjs
  - name: broken
    descripton: Typing error.
    module: ./handlers.mjs
  - { name: slow, description: Waits., module: ./handlers.mjs }
profiles:
  good:
    tools: [echo]
  bad:
    tools: [ecko]
`,
      'handlers.mjs': handlers,
    });
    const registry = new HostToolRegistry();
    const report = await loadHostTools(at('a.yaml'), registry);
    expect(report.loaded).toEqual(['echo', 'slow']);
    expect(report.profiles).toEqual(['good']);
    expect(report.failed).toEqual([
      {
        section: 'tools',
        file: at('a.yaml'),
        index: 1,
        name: 'broken',
        line: 7,
        reason: expect.stringMatching(/unknown key `descripton`; did you mean `description`\?/),
      },
      {
        section: 'profiles',
        file: at('a.yaml'),
        index: 1,
        name: 'bad',
        line: 14,
        reason: expect.stringContaining('got `ecko`. Did you mean `echo`?'),
      },
    ]);
    expect(registry.profile('bad')).toBeUndefined();
  });

  const base = { name: 'echo', description: 'Says it again.', module: './handlers.mjs' };
  test.each([
    ['a number', 3, /expected an object, got `3`/],
    ['nothing', null, /expected an object, got null/],
    ['no name', { ...base, name: undefined }, /`name`: expected a string, got nothing/],
    ['a name that no tool may have', { ...base, name: ' echo' }, /white space/],
    ['no module', { ...base, module: undefined }, /expected `module`, or `external: true`/],
    ['a null', { ...base, category: null }, /`category`: expected a string, got null/],
    [
      'both spellings of approval',
      { ...base, requires_approval: true, requiresApproval: true },
      /`requires_approval` and `requiresApproval` are spellings of the same field/,
    ],
    [
      'both spellings of timeout',
      { ...base, timeout: 1, timeoutMs: 1_000 },
      /`timeout` and `timeoutMs` are spellings/,
    ],
    ['timeout 0', { ...base, timeout: 0 }, /`timeout`: expected a number above 0, got `0`/],
    ['timeout below 0', { ...base, timeout: -1 }, /`timeout`/],
    ['a timeout that no timer holds', { ...base, timeout: 2 ** 31 }, /`timeout`/],
    [
      'a timeout with an unknown unit',
      { ...base, timeout: '5 sec' },
      /`timeout`: expected a number and a unit, such as "500ms", "5s", "2m" or "1h", got `5 sec`/,
    ],
    ['a timeout of text without a unit', { ...base, timeout: '5' }, /expected a number and a unit/],
    ['a timeout of 0 s', { ...base, timeout: '0s' }, /`timeout`: expected a time above 0/],
    [
      'a time that no timer holds',
      { ...base, timeout: '597h' },
      /`timeout`: expected a time above/,
    ],
    [
      'a timeout that is no time',
      { ...base, timeout: true },
      /`timeout`: expected a time with its/,
    ],
    [
      'both names of the input',
      { ...base, parameters: { type: 'object' }, inputSchema: { type: 'object' } },
      /`parameters` and `inputSchema` are spellings of the same field/,
    ],
    [
      'two names of the approval',
      { ...base, requires_approval: false, needsApproval: true },
      /`needsApproval` and `requires_approval` are spellings/,
    ],
    [
      'both names of a hint',
      { ...base, annotations: { readOnly: true, readOnlyHint: true } },
      /`annotations`: `readOnly` and `readOnlyHint` are spellings/,
    ],
    [
      'a version that YAML took for a number',
      { ...base, version: 1.2 },
      /`version`: expected a string, got `1\.2`/,
    ],
    [
      'an unknown annotation',
      { ...base, annotations: { readonly: true } },
      /`annotations`: unknown key `readonly`; did you mean `readOnly`\?/,
    ],
    [
      'an approval of text',
      { ...base, requires_approval: 'yes' },
      /`requires_approval`: expected true, false or \{ title, message\?, risk\?, approvers\? \}, got `yes`/,
    ],
    [
      'an approval with a typing error',
      { ...base, requiresApproval: { titel: 'x' } },
      /unknown key `titel`; did you mean `title`\?/,
    ],
    [
      'a fact without a value',
      { ...base, requires: [{ fact: 'a' }] },
      /expected exactly one of equals, in, got none/,
    ],
    [
      'a fact with two',
      { ...base, requires: [{ fact: 'a', equals: 1, in: [1] }] },
      /expected exactly one of equals, in, got equals and in/,
    ],
    ['a schema that is none', { ...base, parameters: { type: 'nonsense' } }, /parameters/],
    ['parameters of another type', { ...base, parameters: { type: 'string' } }, /parameters/],
    ['a check', { ...base, policy: { check: 'x' } }, /`policy`: unknown key `check`/],
    ['a handler', { ...base, handler: 'x' }, /unknown key `handler`/],
    [
      'the name that sandboxes have for it',
      { ...base, export: 'x' },
      /unknown key `export`; did you mean `function`\?/,
    ],
    ['scope', { ...base, scope: 'session' }, /unknown key `scope`/],
    [
      'an own __proto__',
      JSON.parse(
        `{ "name": "a", "description": "b", "module": "./handlers.mjs", "__proto__": { "x": 1 } }`,
      ),
      /unknown key `__proto__`/,
    ],
    [
      'an exposure of its own',
      { ...base, exposure: 'public' },
      /`exposure`: expected `model` or `internal`, got `public`/,
    ],
    ['many faults', { a: 1, b: 2, name: 3, tags: [1, 2, 3, 4], module: 4 }, /; and \d more$/],
  ])('%s', async (_, entry, reason) => {
    const fine = { ...base, name: 'fine', function: 'echo' };
    const { at } = folder({
      'a.json': `{ "tools": [\n\n${JSON.stringify(entry)},\n${JSON.stringify(fine)}] }`,
      'handlers.mjs': handlers,
    });
    const registry = new HostToolRegistry();
    const { loaded, failed } = await loadHostTools(at('a.json'), registry);
    expect(failed).toHaveLength(1);
    expect(failed[0]?.reason).toMatch(reason);
    expect(failed[0]?.reason).not.toContain('\n');
    expect(failed[0]).toMatchObject({ index: 0, line: 3, section: 'tools' });
    expect(loaded).toEqual(['fine']);
    expect(registry.listNames()).toEqual(['fine']);
  });

  test.each([
    ['given twice', [echo, echo], undefined, /the file already has a tool `echo`/],
    [
      'a twin of another',
      [echo, { ...echo, name: 'Echo', function: 'echo' }],
      undefined,
      /could be mistaken for `echo`/,
    ],
  ])('a name that is %s fails the later one', async (_, tools, __, reason) => {
    const { at } = folder({ 'a.json': { tools }, 'handlers.mjs': handlers });
    const { loaded, failed } = await loadHostTools(at('a.json'), new HostToolRegistry());
    expect(loaded).toEqual(['echo']);
    expect(failed).toMatchObject([{ index: 1, reason: expect.stringMatching(reason) }]);
  });

  test('the host’s own tool keeps its name', async () => {
    const { at } = folder({ 'a.json': { tools: [echo] }, 'handlers.mjs': handlers });
    const registry = new HostToolRegistry();
    const mine = defineTool({
      name: 'echo',
      description: 'Mine.',
      parameters: { type: 'object' },
      handler: () => 'mine',
    });
    registry.register(mine);
    expect((await loadHostTools(at('a.json'), registry)).failed).toMatchObject([
      { name: 'echo', reason: expect.stringMatching(/already registered/) },
    ]);
    expect(registry.get('echo')).toBe(mine);
  });
});

describe('a broken rule', () => {
  test.each([
    [
      'an unknown key',
      { effect: 'deny', tool: 'echo' },
      /unknown key `tool`; did you mean `tools`\?/,
    ],
    [
      'an unknown effect',
      { effect: 'refuse' },
      /`effect`: expected `allow` or `ask` or `deny`, got `refuse`/,
    ],
    ['no effect', { tools: 'echo' }, /`effect`/],
    [
      'a pattern that would backtrack',
      { effect: 'deny', when: { a: { matches: '(?=x)' } } },
      /linear time/,
    ],
    [
      'an unknown test',
      { effect: 'deny', when: { a: { match: 'x' } } },
      /unknown key `match`; did you mean `matches`\?/,
    ],
    [
      'no test',
      { effect: 'deny', when: { a: { not: {} } } },
      /`when.a.not`: expected at least one of equals, in, glob, matches, gt/,
    ],
    ['no tools at all', { effect: 'deny', tools: [] }, /`tools`/],
    ['an empty `when`', { effect: 'deny', when: {} }, /`when`/],
    [
      'a reason of prose',
      { effect: 'deny', reason: 'Not allowed' },
      /`reason`: expected lower-case letters/,
    ],
    ['text', 'deny echo', /expected an object/],
  ])('%s: nothing of the file loads', async (_, rule, reason) => {
    const { at } = folder({
      'a.json': {
        tools: [echo],
        profiles: { p: { tools: ['echo'] } },
        rules: [{ effect: 'ask' }, rule],
      },
      'handlers.mjs': `globalThis.hostToolsRan = true; ${handlers}`,
    });
    const registry = new HostToolRegistry();
    const { revision } = registry;
    const report = await loadHostTools(at('a.json'), registry);
    expect(report).toMatchObject({ loaded: [], profiles: [], rules: 0 });
    expect(report.failed).toMatchObject([
      {
        section: 'rules',
        index: 1,
        line: expect.any(Number),
        reason: expect.stringMatching(reason),
      },
    ]);
    expect(registry.count).toBe(0);
    expect(registry.revision).toBe(revision);
    expect(registry.profile('p')).toBeUndefined();
  });

  test('what the file had loaded before stays, rules and all', async () => {
    const { at, write } = folder({
      'a.json': { tools: [echo], rules: [{ effect: 'deny', tools: 'echo' }] },
      'handlers.mjs': handlers,
    });
    const registry = new HostToolRegistry();
    await loadHostTools(at('a.json'), registry);
    write({ 'a.json': { tools: [echo], rules: [{ effect: 'denny', tools: 'echo' }] } });
    await loadHostTools(at('a.json'), registry);
    expect((await sessionOf(registry).call('echo', {})).error?.code).toBe('policy_denied');
  });
});

describe('loading the same file again', () => {
  test('replaces what it had loaded, and nothing else', async () => {
    const { at, write } = folder({
      'a.json': {
        tools: [
          echo,
          { ...echo, name: 'gone', function: 'echo' },
          { ...echo, name: 'last', function: 'echo' },
        ],
        rules: [{ effect: 'deny', tools: 'last' }],
        profiles: { old: { tools: ['gone'] } },
      },
      'handlers.mjs': handlers,
    });
    const registry = new HostToolRegistry();
    const mine = defineTool({
      name: 'mine',
      description: 'Mine.',
      parameters: { type: 'object' },
      handler: () => 'mine',
    });
    await loadHostTools(at('a.json'), registry);
    registry.register(mine);
    registry.defineProfile({ id: 'own', tools: ['mine'] });
    const before = registry.get('echo');
    write({
      'a.json': {
        tools: [
          { ...echo, name: 'new', function: 'echo' },
          { ...echo, name: 'last', description: 'Changed.', function: 'echo' },
          echo,
        ],
        profiles: { fresh: { tools: ['new'] } },
      },
    });
    const report = await loadHostTools(at('a.json'), registry);
    expect(report).toMatchObject({
      loaded: ['new', 'last', 'echo'],
      failed: [],
      profiles: ['fresh'],
      rules: 0,
    });
    expect(registry.listNames()).toEqual(['echo', 'last', 'mine', 'new']);
    expect(registry.get('echo')).toBe(before);
    expect(registry.get('last')?.description).toBe('Changed.');
    expect(registry.profile('old')).toBeUndefined();
    expect(registry.profile('own')).toBeDefined();
    expect((await sessionOf(registry).call('last', {})).success).toBe(true);
    expect(() => sessionOf(registry, { profile: 'old' })).toThrow(/old/);
  });

  test('without a change changes nothing: no revision, no event, no rule number', async () => {
    const { at } = folder({
      'a.json': {
        tools: [echo],
        rules: [{ effect: 'deny', when: { a: 1 } }],
        profiles: { p: { tools: ['echo'] } },
      },
      'handlers.mjs': handlers,
    });
    const registry = new HostToolRegistry();
    const first = await loadHostTools(at('a.json'), registry);
    const { revision } = registry;
    const profile = registry.profile('p');
    expect(await loadHostTools(at('a.json'), registry)).toEqual(first);
    expect(registry.revision).toBe(revision);
    expect(registry.profile('p')).toBe(profile);
    expect((await sessionOf(registry).call('echo', { a: 1 })).error?.ruleId).toBe('registry#0');
  });

  test('a tool that the host replaced meanwhile is the host’s', async () => {
    const { at, write } = folder({ 'a.json': { tools: [echo] }, 'handlers.mjs': handlers });
    const registry = new HostToolRegistry();
    await loadHostTools(at('a.json'), registry);
    registry.registerOrReplace(
      defineTool({
        name: 'echo',
        description: 'Mine.',
        parameters: { type: 'object' },
        handler: () => 'mine',
      }),
    );
    write({ 'a.json': { tools: [] } });
    await loadHostTools(at('a.json'), registry);
    expect(registry.get('echo')?.description).toBe('Mine.');
  });

  test('a module whose file changed is imported anew', async () => {
    const { at, write } = folder({
      'a.json': {
        tools: [
          { ...echo, name: 'it', module: 'm.mjs' },
          { ...echo, name: 'old', module: 'm.cjs' },
        ],
      },
      'm.mjs': `export default () => 1`,
      'm.cjs': `module.exports = () => 1`,
    });
    const registry = new HostToolRegistry();
    await loadHostTools(at('a.json'), registry);
    const { fingerprint } = registry.get('it')!;
    write({ 'm.mjs': `export default () => 'two'`, 'm.cjs': `module.exports = () => 'two'` });
    await loadHostTools(at('a.json'), registry);
    expect((await sessionOf(registry).call('it', {})).output).toBe('two');
    expect((await sessionOf(registry).call('old', {})).output).toBe('two');
    expect(registry.get('it')?.fingerprint).toBe(fingerprint);
  });

  test('a module that failed is tried again once its file changed', async () => {
    const { at, write } = folder({
      'a.json': { tools: [{ ...echo, name: 'it', module: 'm.mjs' }] },
      'm.mjs': `export default (`,
    });
    const registry = new HostToolRegistry();
    expect((await loadHostTools(at('a.json'), registry)).failed).toHaveLength(1);
    write({ 'm.mjs': `export default () => 'mended'` });
    expect((await loadHostTools(at('a.json'), registry)).failed).toEqual([]);
  });

  test('loads of one file at once end as one load does', async () => {
    const { at } = folder({
      'a.json': { tools: [echo], rules: [{ effect: 'ask', tools: 'x' }] },
      'handlers.mjs': handlers,
    });
    const registry = new HostToolRegistry();
    const reports = await Promise.all([1, 2, 3].map(() => loadHostTools(at('a.json'), registry)));
    expect(reports.map(({ failed }) => failed)).toEqual([[], [], []]);
    expect(registry.count).toBe(1);
  });

  test('registries know nothing of each other', async () => {
    const { at } = folder({ 'a.json': { tools: [echo] }, 'handlers.mjs': handlers });
    const [one, other] = [new HostToolRegistry(), new HostToolRegistry()];
    await loadHostTools(at('a.json'), one);
    expect((await loadHostTools(at('a.json'), other)).failed).toEqual([]);
    expect(one.count).toBe(1);
  });

  test('a profile that the host’s own profile extends cannot vanish: nothing changes', async () => {
    const { at, write } = folder({
      'a.json': { tools: [echo], profiles: { base: { tools: ['echo'] } } },
      'handlers.mjs': handlers,
    });
    const registry = new HostToolRegistry();
    await loadHostTools(at('a.json'), registry);
    registry.defineProfile({ id: 'heir', extends: 'base', tools: [] });
    write({ 'a.json': { tools: [] } });
    await expect(loadHostTools(at('a.json'), registry)).rejects.toMatchObject({
      code: 'invalid_file',
      message: expect.stringContaining('`heir` extends it'),
    });
    expect(registry.listNames()).toEqual(['echo']);
    expect(registry.profile('base')).toBeDefined();
  });
});

describe('what rejects', () => {
  test.each([
    ['no path', undefined],
    ['an empty path', ''],
    ['a path with a zero character', 'a\0b'],
    ['a number', 3],
    ['a web address', new URL('https://example.com/a.yaml')],
    ['a broken file URL', 'file://%'],
  ])('%s: invalid_option', async (_, path) => {
    await expect(loadHostTools(path as string, new HostToolRegistry())).rejects.toMatchObject({
      name: 'MisuseError',
      code: 'invalid_option',
    });
  });

  test.each([
    ['nothing', undefined],
    ['a look-alike', { register() {} }],
  ])('%s for a registry: invalid_option', async (_, registry) => {
    await expect(loadHostTools('a.json', registry as never)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('HostToolRegistry'),
    });
  });

  test('a closed registry: closed', async () => {
    const { at } = folder({
      'a.json': { tools: [echo], rules: [{ effect: 'ask' }] },
      'handlers.mjs': handlers,
    });
    const registry = new HostToolRegistry();
    await registry.close();
    await expect(loadHostTools(at('a.json'), registry)).rejects.toMatchObject({ code: 'closed' });
    expect(registry.count).toBe(0);
  });
});
