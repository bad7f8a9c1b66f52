/** What a server's description of its tools becomes. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { HostToolRegistry, isMisuseError } from '../../../../src/index.ts';
import { loadSdk, loadSdkStdio } from '../../../../src/surfaces/mcp/client/sdk.ts';
import { importMcpTools } from '../../../../src/surfaces/mcp/index.ts';
import { cleanSchema } from '../../../../src/surfaces/shared/outside-text.ts';
import { signal } from '../server/kit.ts';
import { text, tool } from './raw-http.ts';
import { brief, closeAll, closing, imports, serve, sessionOver } from './world.ts';

afterEach(closeAll);

describe('a listing becomes definitions', () => {
  test(
    'name, description and schemas are the server’s; its title, which nothing would pin, is ' +
      'dropped; calls go to the server',
    async () => {
      const inputSchema = {
        type: 'object',
        properties: { a: { type: 'number', description: 'A number.' } },
        required: ['a'],
        additionalProperties: false,
      };
      const server = await serve([
        tool('add', { title: 'Add', annotations: { title: 'Add' }, inputSchema }),
      ]);
      const imported = await imports(server);
      expect(
        imported.tools.map(({ name, description, title, parameters }) => ({
          name,
          description,
          title,
          parameters,
        })),
      ).toEqual([
        { name: 'add', description: 'Does add.', title: undefined, parameters: inputSchema },
      ]);
      const session = sessionOver(imported);
      expect(brief(await session.call('add', { a: 1 }))).toEqual([
        { type: 'text', text: '{"a":1}' },
      ]);
      expect(brief(await session.call('add', { a: 'x' }))).toEqual(['invalid_input']);
      expect(server.received.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
    },
  );

  test('a prefix precedes every name; the server is called by its own', async () => {
    const server = await serve();
    server.call = ({ name }) => text(name);
    const session = sessionOver(await imports(server, { prefix: 'raw_' }));
    expect(brief(await session.call('raw_echo', {}))).toEqual([{ type: 'text', text: 'echo' }]);
  });

  test('pages are put together, in order', async () => {
    const server = await serve();
    server.list = ({ cursor }) =>
      cursor === undefined ? { tools: [tool('one')], nextCursor: 'x' } : { tools: [tool('two')] };
    expect((await imports(server)).tools.map(({ name }) => name)).toEqual(['one', 'two']);
  });

  test('a server without tools is imported as none', async () => {
    expect((await imports(await serve([]))).tools).toEqual([]);
  });
});

describe('a stranger’s word loosens nothing', () => {
  test.each<[string, object | undefined, object]>([
    ['no hints', undefined, { destructive: true, openWorld: true }],
    ['hints of another kind', { title: 'x' }, { destructive: true, openWorld: true }],
    [
      'hints that are no booleans',
      { destructiveHint: 'false', openWorldHint: 0 },
      { destructive: true, openWorld: true },
    ],
    ['a hint that it only reads', { readOnlyHint: true }, { destructive: true, openWorld: true }],
    [
      'hints that it does neither',
      { destructiveHint: false, openWorldHint: false },
      { destructive: false, openWorld: false },
    ],
  ])(
    'a tool may destroy and reach out unless its server says that it does not: %s',
    async (_what, annotations, expected) => {
      const imported = await imports(
        await serve([tool('one', annotations === undefined ? {} : { annotations })]),
      );
      expect(imported.tools[0]?.annotations).toEqual(expected);
      const registry = new HostToolRegistry({
        rules: [{ effect: 'deny', annotations: { destructive: true } }],
      });
      const result = await sessionOver(imported, registry).call('one', {});
      expect(result.success).toBe((expected as { destructive: boolean }).destructive === false);
    },
  );

  test('readOnly and idempotent are not taken over, destructive and openWorld are', async () => {
    const hints = {
      readOnlyHint: true,
      idempotentHint: true,
      destructiveHint: true,
      openWorldHint: true,
    };
    const session = sessionOver(
      await imports(
        await serve([tool('one', { annotations: hints }), tool('two', { annotations: hints })]),
      ),
    );
    expect(session.tool('one')?.annotations).toEqual({ destructive: true, openWorld: true });
    // Nothing runs beside it.
    expect(
      session.plan([
        { id: '1', name: 'one', arguments: {} },
        { id: '2', name: 'two', arguments: {} },
      ]).groups,
    ).toHaveLength(2);
  });

  test('the source is the server, whoever registers it, and rules use it', async () => {
    const server = await serve([tool('echo')], { name: 'raw\u202e server', version: '1' });
    const imported = await imports(server);
    expect(imported.source).toBe('mcp:raw server');
    const registry = new HostToolRegistry({
      rules: [{ effect: 'deny', source: 'mcp:*', when: { a: 1 }, reason: 'not_this' }],
    });
    const session = sessionOver(imported, registry);
    expect(session.tool('echo')?.source).toBe('mcp:raw server');
    expect(brief(await session.call('echo', { a: 1 }))).toEqual(['policy_denied', 'not_this']);
    expect(brief(await session.call('echo', { a: 2 }))).toEqual([
      { type: 'text', text: '{"a":2}' },
    ]);
  });

  test('the host’s own name for a server overrides the server’s', async () => {
    expect((await imports(await serve(), { name: 'files' })).source).toBe('mcp:files');
  });

  test('a scope owns what it registers, and the source stays the server', async () => {
    const imported = await imports(await serve());
    const registry = closing(new HostToolRegistry());
    const scope = registry.scope('plugin', {
      prefix: 'p.',
      rules: [{ effect: 'deny', reason: 'scoped' }],
    });
    scope.registerAll(imported.tools);
    expect(scope.listNames()).toEqual(['p.echo']);
    const session = registry.createSession({ sessionId: 's', services: undefined });
    expect(brief(await session.call('p.echo', {}))).toEqual(['policy_denied', 'scoped']);
    await scope.dispose();
    expect(registry.listNames()).toEqual([]);
  });

  test('a mark that hides a field from people does not hide it from who approves', async () => {
    const inputSchema = {
      type: 'object',
      properties: { to: { type: 'string', 'x-secret': true } },
    };
    const imported = await imports(await serve([tool('send', { inputSchema })]));
    const registry = closing(new HostToolRegistry({ rules: [{ effect: 'ask' }] }));
    registry.registerAll(imported.tools);
    const shown: unknown[] = [];
    const session = registry.createSession({
      sessionId: 's',
      services: undefined,
      approver: (request) => {
        shown.push(request.input, request.tool.source);
        return 'reject_once';
      },
    });
    await session.call('send', { to: 'me' });
    expect(shown).toEqual([{ to: 'me' }, 'mcp:raw']);
  });
});

describe('texts are cleaned', () => {
  test('what people cannot see is stripped, from schemas too; data in them stays', async () => {
    const tags = String.fromCodePoint(0xe0049, 0xe0047, 0xe004e);
    const inputSchema = {
      type: 'object',
      properties: {
        description: { type: 'string', description: `Seen${tags}\u200b`, enum: ['a\u200b'] },
      },
    };
    const [one] = (
      await imports(
        await serve([tool('one', { description: `Good\u202e ${tags}tool\u0007.`, inputSchema })]),
      )
    ).tools;
    expect(one?.description).toBe('Good tool.');
    expect(one?.parameters).toEqual({
      type: 'object',
      properties: { description: { type: 'string', description: 'Seen', enum: ['a\u200b'] } },
    });
    expect(one?.tags).toEqual(['untrusted']);
  });

  test(
    'so is every string that does not validate, under known and unknown keywords; what ' +
      'validates stays',
    () => {
      const evil = 'a\u202e\u001b[2J\u{e0041}b';
      const kept = {
        required: [evil],
        properties: {
          [evil]: { const: evil },
          const: { enum: [evil], pattern: evil, default: { title: evil } },
        },
        dependencies: { a: [evil] },
        $defs: { a: { $ref: '#/x-held/a' } },
        'x-held': { a: { const: evil } },
      };
      const texts = (text: string) => ({
        ...{
          title: text,
          description: text,
          $comment: text,
          errorMessage: { required: text, pattern: text, enum: [text] },
          'x-hint': [text, { deep: [text] }],
          examples: [text],
        },
        ...{
          contentMediaType: text,
          properties: { const: { 'x-note': text } },
          allOf: [{ deprecated: text }],
        },
      });
      expect(cleanSchema(kept)).toEqual(kept);
      expect(cleanSchema(texts(evil))).toEqual(texts('a[2Jb'));
      expect(cleanSchema({ format: 'email\u202e' })).toEqual({ format: 'email?' });
    },
  );

  test('a description is cut at 8 KB; one that is missing is said to be', async () => {
    const imported = await imports(
      await serve([
        tool('long', { description: 'é'.repeat(9_000) }),
        { name: 'bare', inputSchema: { type: 'object' } },
      ]),
    );
    const [long, bare] = imported.tools;
    expect(Buffer.byteLength(long?.description ?? '')).toBeLessThanOrEqual(8_192);
    expect(long?.description.endsWith('é…')).toBe(true);
    expect(bare?.description).toBe(
      'A tool of the server mcp:raw, which gives no description of it.',
    );
  });
});

const nested = (depth: number): object =>
  depth === 0 ? {} : { type: 'object', properties: { a: nested(depth - 1) } };

describe('tools that cannot be imported are reported, and the others are imported', () => {
  test.each<[string, unknown, RegExp]>([
    ['no object', 'tool', /not an object/],
    ['no name', { inputSchema: { type: 'object' } }, /no name/],
    ['a name of blanks', tool('  '), /non-blank/],
    ['a name that turns around', tool('a\u202eb'), /bidirectional/],
    ['a reserved name', tool('__proto__'), /reserved/],
    ['a name of 3 MB', tool('x'.repeat(3_000_000)), /longer than 1024 characters/],
    ['a twin', tool('G00D'), /can be mistaken for `good`/],
    ['the same again', tool('good'), /can be mistaken for `good`/],
    ['no input schema', { name: 'x' }, /inputSchema/],
    ['an input that is nested too deeply', tool('x', { inputSchema: nested(47) }), /deep/],
    ['an input that is no object', tool('x', { inputSchema: { type: 'string' } }), /object/],
    [
      'a schema that is too large',
      tool('x', { inputSchema: { type: 'object', description: 'x'.repeat(70_000) } }),
      /larger than 65536/,
    ],
  ])('%s', async (_, given, reason) => {
    const imported = await imports(await serve([tool('good'), given, tool('fine')]));
    expect(imported.tools.map(({ name }) => name)).toEqual(['good', 'fine']);
    expect(imported.failed).toHaveLength(1);
    expect(imported.failed[0]?.reason).toMatch(reason);
    expect(imported.failed[0]?.name).toMatch(/^[ -~]*…?$/);
  });

  test('`constructor` is a name like any other', async () => {
    const session = sessionOver(await imports(await serve([tool('constructor')])));
    expect(brief(await session.call('constructor', {}))).toEqual([{ type: 'text', text: '{}' }]);
  });
});

describe('what only the server can check is left to it, and the tool is imported', () => {
  const evil = { type: 'object', properties: { a: { type: 'string', pattern: '(?=(a+)+$)b' } } };
  const large = { type: 'object', description: 'x'.repeat(70_000) };
  test.each<[string, object, path: string, RegExp]>([
    ['a pattern that may hang', { inputSchema: evil }, '/inputSchema/properties/a/pattern', /time/],
    [
      'a reference to elsewhere',
      { inputSchema: { type: 'object', properties: { a: { $ref: 'https://evil.example/x' } } } },
      '/inputSchema/properties/a/$ref',
      /leads outside the document/,
    ],
    [
      'a malformed keyword',
      { inputSchema: { type: 'object', properties: { a: { type: 'any' } } } },
      '/inputSchema/properties/a/type',
      /expected string, number/,
    ],
    [
      'a pattern of the output',
      { outputSchema: evil },
      '/outputSchema/properties/a/pattern',
      /linear time/,
    ],
    ['an output schema beyond the limits', { outputSchema: large }, '/outputSchema', /65536 bytes/],
    ['an output schema that is none', { outputSchema: 5 }, '/outputSchema', /not an object/],
  ])('%s', async (_, given, path, message) => {
    const imported = await imports(await serve([tool('good'), tool('x', given), tool('fine')]));
    expect(imported.tools.map(({ name }) => name)).toEqual(['good', 'x', 'fine']);
    expect(imported.failed).toEqual([]);
    expect(imported.warnings).toEqual([
      { name: 'x', path, message: expect.stringMatching(/^Not checked here: /) },
    ]);
    expect(imported.warnings[0]?.message).toMatch(message);
    // The server of this test sends no structured content.
    if (imported.tools[1]?.outputSchema !== undefined) return;
    const session = sessionOver(imported);
    expect(await session.call('x', { a: 'anything' })).toMatchObject({ success: true });
  });

  test('a default that its own schema refuses is not sent', async () => {
    const inputSchema = {
      type: 'object',
      properties: { a: { type: 'string', default: null }, b: { type: 'integer', default: 5 } },
    };
    const imported = await imports(await serve([tool('x', { inputSchema })]));
    expect(imported.warnings).toEqual([]);
    expect(await sessionOver(imported).call('x', {})).toMatchObject({
      output: [{ type: 'text', text: '{"b":5}' }],
    });
  });

  test('rules about such an argument still judge it', async () => {
    const imported = await imports(await serve([tool('x', { inputSchema: evil })]));
    const registry = new HostToolRegistry({
      rules: [{ effect: 'deny', tools: 'x', when: { a: { matches: '^secret' } } }],
    });
    const session = sessionOver(imported, registry);
    expect(await session.call('x', { a: 'secret' })).toMatchObject({
      error: { code: 'policy_denied' },
    });
    expect(await session.call('x', { a: 5 })).toMatchObject({ error: { code: 'invalid_input' } });
    expect(await session.call('x', { a: 'plain' })).toMatchObject({ success: true });
  });

  test('the model is told a short pattern in the description', async () => {
    const imported = await imports(await serve([tool('x', { inputSchema: evil })]));
    expect(imported.tools[0]?.parameters).toEqual({
      type: 'object',
      properties: { a: { type: 'string', description: '(pattern: (?=(a+)+$)b)' } },
    });
  });

  test('many parts of one schema are noted together, and a tool that fails has no notes', async () => {
    const many = {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 30 }, (_, index) => [`p${index}`, { type: 'any' }]),
      ),
    };
    const imported = await imports(
      await serve([tool('x', { inputSchema: many }), tool('X', { inputSchema: evil })]),
    );
    expect(imported.failed).toHaveLength(1);
    expect(imported.warnings).toHaveLength(21);
    expect(imported.warnings.at(-1)).toMatchObject({
      name: 'x',
      path: '/inputSchema',
      message: expect.stringContaining('10 other parts'),
    });
  });
});

describe('what the output has no room for', () => {
  const image = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' };
  const link = {
    type: 'resource_link',
    uri: 'file:///a',
    name: 'a',
    title: 'A',
    description: 'The first.',
    size: 7,
  };
  const said = { type: 'text', text: 'for the model' };
  const outputSchema = { type: 'object', properties: { n: { type: 'number' } } };

  test.each<[string, object, object, object]>([
    [
      'texts and images beside structured content',
      { outputSchema },
      { content: [said, image], structuredContent: { n: 1 } },
      { content: [said, image] },
    ],
    [
      'another spelling of the same data',
      { outputSchema },
      { content: [{ type: 'text', text: '{ "n": 1 }' }], structuredContent: { n: 1 } },
      { content: [{ type: 'text', text: '{ "n": 1 }' }] },
    ],
    [
      'annotations of a text that only repeats the data',
      { outputSchema },
      {
        content: [{ type: 'text', text: '{"n":1}', annotations: { priority: 1 } }],
        structuredContent: { n: 1 },
      },
      { content: [{ type: 'text', text: '{"n":1}', annotations: { priority: 1 } }] },
    ],
    [
      'structured content beside parts',
      {},
      { content: [said], structuredContent: { n: 1 } },
      { structuredContent: { n: 1 } },
    ],
    [
      'the meta data of the result',
      {},
      { content: [said], _meta: { cost: 3 } },
      { _meta: { cost: 3 } },
    ],
    [
      'a large image',
      { outputSchema },
      {
        content: [{ ...image, data: 'A'.repeat(20_000) }],
        structuredContent: { n: 1 },
        _meta: { cost: 3 },
      },
      { content: [{ ...image, data: 'A'.repeat(20_000) }], _meta: { cost: 3 } },
    ],
    [
      'that there are no parts beside structured content',
      { outputSchema },
      { content: [], structuredContent: { n: 1 } },
      { content: [] },
    ],
    [
      'that there are no parts beside undeclared data',
      {},
      { content: [], structuredContent: { n: 1 } },
      { content: [], structuredContent: { n: 1 } },
    ],
    ['that there is nothing', {}, { content: [] }, { content: [] }],
  ])('goes alongside it: %s', async (_what, more, result, expected) => {
    const server = await serve([tool('one', more)]);
    server.call = () => result;
    const outcome = await sessionOver(await imports(server)).call('one', {});
    expect([outcome.success, outcome.metadata.alongside]).toEqual([true, expected]);
  });

  test.each<[string, object, object]>([
    ['plain parts', {}, { content: [said, image] }],
    [
      'structured content that the text repeats',
      { outputSchema },
      { content: [{ type: 'text', text: '{"n":1,"m":[]}' }], structuredContent: { n: 1, m: [] } },
    ],
    [
      'meta data of the protocol, or in the name of this library',
      {},
      {
        content: [said],
        _meta: {
          progressToken: 1,
          'modelcontextprotocol.io/x': 1,
          'io.modelcontextprotocol/related-task': {},
          'mcp.dev/x': 1,
          'host-tools/error': { code: 'internal' },
        },
      },
    ],
  ])('is nothing for %s', async (_what, more, result) => {
    const server = await serve([tool('one', more)]);
    server.call = () => result;
    const outcome = await sessionOver(await imports(server)).call('one', {});
    expect([outcome.success, outcome.metadata.alongside]).toEqual([true, undefined]);
  });

  const annotations = { audience: ['user'], priority: 0.5, lastModified: '2026-01-02T03:04:05Z' };
  const resource = { uri: 'x:y', text: '', _meta: { page: 1 } };
  test.each<[string, object, object]>([
    ['what a link says more', link, link],
    ['annotations', { ...said, annotations }, { ...said, annotations }],
    ['the meta data of a part', { ...image, _meta: { a: 1 } }, { ...image, _meta: { a: 1 } }],
    ['the meta data of a resource', { type: 'resource', resource }, { type: 'resource', resource }],
    [
      'annotations as far as they follow the protocol',
      {
        ...said,
        annotations: { audience: ['all'], priority: 2, lastModified: 'today', more: 1 },
        _meta: 7,
      },
      { ...said, annotations: { more: 1 } },
    ],
    [
      'a link as far as it follows it',
      { ...link, title: 1, description: null, size: '7', icons: [{ src: 'x', theme: 'red' }] },
      {
        type: 'resource_link',
        uri: 'file:///a',
        name: 'a',
      },
    ],
  ])('is no longer lost from a part: %s', async (_what, sent, part) => {
    const server = await serve([tool('one')]);
    server.call = () => ({ content: [sent] });
    const outcome = await sessionOver(await imports(server)).call('one', {});
    expect(outcome.output).toEqual([part]);
    expect(outcome.metadata.alongside).toBeUndefined();
  });

  test('of a failure is in its details', async () => {
    const server = await serve([tool('one')]);
    server.call = () => ({
      isError: true,
      content: [{ type: 'text', text: 'Broken.' }, image],
      structuredContent: { code: 7 },
      _meta: { cost: 3 },
    });
    const { error } = await sessionOver(await imports(server)).call('one', {});
    expect(error).toMatchObject({
      code: 'handler_error',
      reason: 'mcp_tool_error',
      message: 'Broken.',
      details: {
        structuredContent: { code: 7 },
        content: [{ type: 'text', text: 'Broken.' }, image],
        _meta: { cost: 3 },
      },
    });
  });
});

test('an HTTP server may take as long for its first answer as for the handshake', async () => {
  const server = await serve([tool('one')]);
  const asked = signal();
  const wake = signal();
  server.before = async () => {
    asked.resolve();
    await wake.promise;
  };
  const { setTimeout } = globalThis;
  const lengths: number[] = [];
  const timers = vi.spyOn(globalThis, 'setTimeout');
  timers.mockImplementation(((run: () => void, ms = 0, ...rest: []) => {
    // An idle socket of an earlier request has a timer as well, which ends no request.
    if (ms >= 2_000 && !new Error().stack?.includes('undici')) lengths.push(ms);
    return setTimeout(run, ms, ...rest);
  }) as typeof setTimeout);
  const importing = imports(server, {}, 30_000);
  await asked.promise;
  // What would give up on the first answer is a timer, and the only one of such a length.
  timers.mockRestore();
  expect(lengths).toEqual([30_000]);
  wake.resolve();
  expect((await importing).tools).toHaveLength(1);
});

describe('options that cannot be meant are refused', () => {
  test('an unknown one by name, with the one that was probably meant', async () => {
    const refused = (connection: unknown, options?: unknown): Promise<unknown> =>
      importMcpTools(connection as never, options as never).catch(String);
    expect(await refused({ command: 'x' }, { pin: {} })).toContain(
      'importMcpTools: unknown option `pin`; did you mean `pins`?',
    );
    expect(await refused({ command: 'x', arg: [] })).toContain(
      'importMcpTools: unknown member `arg`; did you mean `args`?',
    );
    expect(await refused({ url: 'http://127.0.0.1:1', header: {} })).toContain(
      'importMcpTools: unknown member `header`; did you mean `headers`?',
    );
    expect(await refused({ url: 'http://127.0.0.1:1', command: 'x' })).toContain(
      'expected a connection',
    );
    expect(await refused(Object.create({ command: 'x' }))).toContain('expected a connection');
  });

  test.each<[string, unknown, unknown]>([
    ['nothing', undefined, {}],
    ['a command that is none', { command: '' }, {}],
    ['arguments that are a string', { command: 'x', args: '-y' }, {}],
    ['an environment with numbers', { command: 'x', env: { A: 1 } }, {}],
    ['no address', { url: 'x' }, {}],
    ['a password in the address', { url: 'http://me:hush@localhost/' }, {}],
    ['another protocol', { url: 'file:///etc/passwd' }, {}],
    [
      'a client of an older SDK',
      { request: () => {}, callTool: () => {}, listTools: () => {} },
      {},
    ],
    ['an unknown option', { command: 'x' }, { pin: {} }],
    ['a prefix that is a number', { command: 'x' }, { prefix: 1 }],
    ['no time', { command: 'x' }, { timeoutMs: 0 }],
    ['pins in a list', { command: 'x' }, { pins: [] }],
    ['a pin that is none', { command: 'x' }, { pins: { a: 1 } }],
    ['a name with a line break', { command: 'x' }, { name: 'a\nb' }],
  ])('%s', async (_, connection, options) => {
    const error = await importMcpTools(connection as never, options as never).catch(
      (thrown: unknown) => thrown,
    );
    expect(isMisuseError(error) && error.code).toBe('invalid_option');
    expect(String(error)).not.toContain('hush');
  });
});

test('without the SDK the message says what to install', async () => {
  const missing = (): Promise<never> =>
    Promise.reject(
      Object.assign(
        new Error("Cannot find package '@modelcontextprotocol/client' imported from x"),
        { code: 'ERR_MODULE_NOT_FOUND' },
      ),
    );
  for (const load of [() => loadSdk(missing), () => loadSdkStdio(missing)]) {
    const error = await load().catch((thrown: unknown) => thrown);
    expect(isMisuseError(error) && [error.code, error.message]).toEqual([
      'missing_dependency',
      expect.stringContaining('npm install @modelcontextprotocol/client'),
    ]);
  }
});
