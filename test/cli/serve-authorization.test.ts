/** `serve --http` for clients with tokens: by a file, and by flags. */
import { afterEach, describe, expect, test } from 'vitest';
import { defineTool, HostToolRegistry } from '../../src/index.ts';
import { folder } from '../surfaces/config/folder.ts';
import { startIssuer } from '../surfaces/mcp/server/issuer.ts';
import { anything, connectClient, eras, listen, opened } from '../surfaces/mcp/server/kit.ts';
import { cli } from './cli-run.ts';

const open = opened();
afterEach(() => open.close());

const audience = 'https://tools.example.com/mcp';
const tools = [
  { name: 'read', description: 'Reads.', module: './handlers.mjs' },
  { name: 'write', description: 'Writes.', module: './handlers.mjs', scopes: ['write'] },
];
const handlers = `
export const read = (_input, { principal, sessionId }) => principal + ' ' + sessionId;
export const write = () => 'written';`;

async function serve(file: object, ...flags: string[]): Promise<URL> {
  const at = folder({ 'tools.json': file, 'handlers.mjs': handlers });
  const interrupt = new AbortController();
  let tell: (url: URL) => void = () => {};
  const address = new Promise<URL>((resolve) => {
    tell = resolve;
  });
  let said = '';
  const ran = cli(['serve', at.at('tools.json'), '--http', '0', ...flags], {
    signal: interrupt.signal,
    onStderr(text) {
      said += text;
      const [found] = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(text) ?? [];
      if (found !== undefined) tell(new URL(found));
    },
  });
  open.defer(async () => {
    interrupt.abort();
    await ran;
  });
  const ended = ran.then(({ stderr }) => Promise.reject(new Error(stderr)));
  ended.catch(() => {});
  const url = await Promise.race([address, ended]);
  expect(said).not.toContain('warning');
  return url;
}

describe.each(['a file', 'flags'])('by %s', (by) => {
  const start = async () => {
    const issuer = await startIssuer(open, audience);
    const authorization = { issuer: issuer.url, audience, scopes: ['read'] };
    const url =
      by === 'a file'
        ? await serve({ tools, authorization })
        : await serve(
            { tools },
            '--issuer',
            issuer.url,
            '--audience',
            audience,
            '--scopes',
            'read',
          );
    return { issuer, url };
  };

  test.each(eras)('who has a token calls in its name, in the %s era', async (era) => {
    const { issuer, url } = await start();
    const headersOf = async (claims: object) => ({
      headers: { authorization: `Bearer ${await issuer.token({ ...claims })}` },
    });
    const ann = await connectClient(open, url, era, {}, await headersOf({ sub: 'ann' }));
    const bob = await connectClient(
      open,
      url,
      era,
      {},
      await headersOf({ sub: 'bob', scope: 'write' }),
    );
    const text = async (client: typeof ann, name: string) =>
      (await client.callTool({ name, arguments: {} })).content;
    expect(await text(ann, 'read')).toMatchObject([{ text: expect.stringMatching(/^ann cli-/) }]);
    expect(await text(bob, 'read')).toMatchObject([{ text: expect.stringMatching(/^bob cli-/) }]);
    expect(await text(bob, 'write')).toMatchObject([{ text: 'written' }]);
    await expect(text(ann, 'write')).rejects.toThrow(/scope/);
  });

  test('who has none learns where to get one', async () => {
    const { issuer, url } = await start();
    const refused = await fetch(url, { method: 'POST', body: '{}' });
    expect(refused.status).toBe(401);
    const [, at = ''] =
      /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? [];
    expect(await (await fetch(at)).json()).toMatchObject({
      resource: url.href,
      authorization_servers: [issuer.url],
      scopes_supported: ['read'],
    });
    const elsewhere = await fetch(new URL('/.well-known/oauth-protected-resource/other', url));
    expect(elsewhere.status).toBe(404);
  });
});

test('behind a proxy, the metadata is at the path that clients know', async () => {
  const issuer = await startIssuer(open, audience);
  const resource = 'https://tools.example.com/orders/mcp';
  const url = await serve({ tools, authorization: { issuer: issuer.url, audience, resource } });
  const refused = await fetch(url, { method: 'POST', body: '{}' });
  const at = 'https://tools.example.com/.well-known/oauth-protected-resource/orders/mcp';
  expect(refused.headers.get('www-authenticate')).toContain(`resource_metadata="${at}"`);
  const found = await fetch(new URL(new URL(at).pathname, url));
  expect(await found.json()).toMatchObject({ resource });
});

test.each([
  ['an audience alone', ['--audience', 'a'], '`--audience` needs `--issuer URL`'],
  ['an issuer alone', ['--issuer', 'https://a.example'], '`--issuer` needs `--audience`'],
  [
    'an issuer without TLS',
    ['--issuer', 'http://a.example', '--audience', 'a'],
    'expected `issuer` to be an https URL',
  ],
  [
    'a scope with a blank',
    ['--issuer', 'https://a.example', '--audience', 'a', '--scopes', 'a, b'],
    'Expected `--scopes`',
  ],
])('%s is refused', async (_what, flags, message) => {
  const at = folder({ 'tools.json': { tools }, 'handlers.mjs': handlers });
  const { exit, stderr } = await cli(['serve', at.at('tools.json'), '--http', '0', ...flags]);
  expect(exit).toBe(2);
  expect(stderr).toContain(message);
});

test('flags and a file that both say whose tokens are taken are refused', async () => {
  const authorization = { issuer: 'https://b.example', audience };
  const at = folder({ 'tools.json': { tools, authorization }, 'handlers.mjs': handlers });
  const flags = ['--http', '0', '--issuer', 'https://a.example', '--audience', 'a'];
  const { exit, stderr } = await cli(['serve', at.at('tools.json'), ...flags]);
  expect(exit).toBe(2);
  expect(stderr).toContain('by `authorization` in a file, not both');
});

test.each([
  ['tokens', ['--issuer', 'https://a.example', '--audience', 'a'], '`--issuer` needs `--http`'],
  ['names of hosts', ['--allowed-host', 'a.example'], '`--allowed-host` needs `--http`'],
])('%s need an address', async (_what, flags, message) => {
  const at = folder({ 'tools.json': { tools }, 'handlers.mjs': handlers });
  const { exit, stderr } = await cli(['serve', at.at('tools.json'), ...flags]);
  expect(exit).toBe(2);
  expect(stderr).toContain(message);
});

test('an issuer without TLS in a file keeps the command from starting', async () => {
  const authorization = { issuer: 'http://a.example', audience };
  const at = folder({ 'tools.json': { tools, authorization }, 'handlers.mjs': handlers });
  const { exit, stderr } = await cli(['serve', at.at('tools.json'), '--http', '0']);
  expect(exit).toBe(1);
  expect(stderr).toContain('anybody could call the tools');
});

test('a gateway asks its clients for tokens, and its servers never see them', async () => {
  const issuer = await startIssuer(open, audience);
  const seen: (string | null)[] = [];
  const registry = new HostToolRegistry();
  open.defer(() => registry.close());
  registry.register(
    defineTool({
      name: 'tell',
      description: 'Tells.',
      parameters: anything,
      handler: () => 'told',
    }),
  );
  const far = await listen(open, registry.createSession({ sessionId: 'far' }), {}, (handler) => ({
    fetch(request) {
      seen.push(request.headers.get('authorization'));
      return handler.fetch(request);
    },
  }));
  const url = await serve(
    {
      mcpServers: { far: { url: far.url.href } },
      profiles: { default: { tools: [{ name: 'far.tell', scopes: ['tell'] }] } },
      authorization: { issuer: issuer.url, audience },
    },
    '--profile',
    'default',
  );
  expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401);
  const call = async (claims: object) => {
    const headers = { authorization: `Bearer ${await issuer.token({ sub: 'ann', ...claims })}` };
    const client = await connectClient(open, url, 'legacy', {}, { headers });
    return client.callTool({ name: 'far.tell', arguments: {} });
  };
  await expect(call({})).rejects.toThrow(/scope/);
  expect(await call({ scope: 'tell' })).toMatchObject({ content: [{ text: 'told' }] });
  expect(seen.length).toBeGreaterThan(0);
  expect(seen.filter((header) => header !== null)).toEqual([]);
});
