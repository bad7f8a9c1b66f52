/** The key `credentials` of files: static tokens for the tools of a registry. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { HostToolRegistry as CoreRegistry, defineTool } from '../../../src/core.ts';
import { HostToolRegistry } from '../../../src/index.ts';
import { loadHostTools, watchHostTools } from '../../../src/surfaces/config/index.ts';
import { folder } from './folder.ts';

const at = (credentials: unknown): string => folder({ 'a.json': { credentials } }).at('a.json');

const github = { github: { env: 'HT_TEST_TOKEN' } };

function withTool<R extends HostToolRegistry | CoreRegistry>(registry: R): R {
  registry.register(
    defineTool({
      name: 'repos',
      description: 'Lists repositories.',
      parameters: z.object({}),
      credentials: { github: {} },
      handler: (_input, { credentials }) => credentials.github.token.length,
    }),
  );
  return registry;
}
const call = (registry: HostToolRegistry | CoreRegistry, id = 's') =>
  registry.createSession({ sessionId: id, principal: 'ann' }).call('repos', {});

afterEach(() => vi.unstubAllEnvs());

describe('a file with `credentials`', () => {
  test('gives tools the token of the variable', async () => {
    vi.stubEnv('HT_TEST_TOKEN', 'canary-12');
    const registry = withTool(new HostToolRegistry());
    expect((await call(registry, 'before')).error?.reason).toBe('credentials_unavailable');
    expect(await loadHostTools(at(github), registry)).toMatchObject({ failed: [] });
    expect((await call(registry)).output).toBe(9);
  });

  test('gives none that it does not name', async () => {
    vi.stubEnv('HT_TEST_TOKEN', 'canary-12');
    const registry = withTool(new HostToolRegistry());
    await loadHostTools(at({ gitlab: github.github }), registry);
    expect((await call(registry)).error?.reason).toBe('credentials_unavailable');
  });

  test('brings the part to a registry of the core', async () => {
    vi.stubEnv('HT_TEST_TOKEN', 'canary-12');
    const registry = new CoreRegistry();
    expect(await loadHostTools(at(github), registry)).toMatchObject({ failed: [] });
  });
});

describe('what is wrong is said, without a token', () => {
  test.each([
    ['a variable that is not set', github, 'set the environment variable `HT_TEST_TOKEN`'],
    ['no variable', { github: {} }, 'env'],
    ['a name', { '1': { env: 'X' } }, 'begins with a letter'],
    ['a token in the file', { github: { token: 'x' } }, 'unknown key `token`'],
  ])('%s', async (_, credentials, said) => {
    const { failed } = await loadHostTools(at(credentials), new HostToolRegistry());
    expect(failed).toMatchObject([{ section: 'credentials' }]);
    expect(failed[0]?.reason).toContain(said);
  });

  test('a token that could begin another header', async () => {
    vi.stubEnv('HT_TEST_TOKEN', 'canary\r\nX-Evil: 1');
    const { failed } = await loadHostTools(at(github), new HostToolRegistry());
    expect(failed[0]?.reason).toContain('visible ASCII');
    expect(JSON.stringify(failed)).not.toContain('canary');
  });

  test('a registry with a resolver, and two files that give the same', async () => {
    vi.stubEnv('HT_TEST_TOKEN', 'canary-12');
    const own = new HostToolRegistry({ credentials: () => ({ token: 'mine' }) });
    expect((await loadHostTools(at(github), own)).failed[0]?.reason).toContain(
      'the registry has a resolver of its own',
    );
    const registry = new HostToolRegistry();
    const first = at(github);
    await loadHostTools(first, registry);
    expect((await loadHostTools(at(github), registry)).failed[0]?.reason).toBe(
      `the file \`${first}\` already gives \`github\``,
    );
  });
});

test('an edit replaces what the file gave, and an end of the key takes it away', async () => {
  vi.stubEnv('HT_TEST_TOKEN', 'canary-12');
  vi.stubEnv('HT_TEST_OTHER', 'canary-1234');
  const files = folder({ 'a.json': { credentials: github } });
  const registry = withTool(new HostToolRegistry());
  let reloads = 0;
  const watch = watchHostTools(files.at('a.json'), registry, {
    debounceMs: 1,
    onReload: () => void reloads++,
  });
  await watch;
  files.write({ 'a.json': { credentials: { github: { env: 'HT_TEST_OTHER' } } } });
  await expect.poll(() => reloads).toBe(1);
  expect((await call(registry, 's1')).output).toBe(11);
  files.write({ 'a.json': {} });
  await expect.poll(() => reloads).toBe(2);
  expect((await call(registry, 's2')).error?.reason).toBe('credentials_unavailable');
  watch.close();
});
