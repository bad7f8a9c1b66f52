/** `credentials` of an import: calls of each person go over connections with their own token. */
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, HostToolRegistry } from '../../../../src/index.ts';
import type { Link } from '../../../../src/surfaces/mcp/client/link.ts';
import { createPeople } from '../../../../src/surfaces/mcp/client/people.ts';
import { importMcpTools } from '../../../../src/surfaces/mcp/index.ts';
import { listen, opened, signal } from '../server/kit.ts';

const open = opened();
afterEach(() => open.close());

/** A server that takes the tokens `token-of-NAME`, and says who has called. */
async function serverOf() {
  const registry = new HostToolRegistry();
  registry.register(
    defineTool({
      name: 'whoami',
      description: 'Says who calls.',
      parameters: z.object({}),
      handler: (_input, { principal }) => `${principal}`,
    }),
  );
  open.defer(() => registry.close());
  const { url } = await listen(
    open,
    ({ principal = '' }) => registry.createSession({ sessionId: principal, principal }),
    {
      authorization: {
        authorizationServers: ['https://login.example.com'],
        verify: (token) =>
          token.startsWith('token-of-')
            ? { principal: token.slice('token-of-'.length), scopes: [] }
            : undefined,
      },
    },
  );
  return url;
}

const credentials = { orders: { scopes: ['orders:read'] } };
const headers = { Authorization: 'Bearer token-of-host' };

async function hostOf(resolve: (principal: string | undefined) => string) {
  const registry = new HostToolRegistry({
    credentials: ({ principal }) => ({ token: resolve(principal) }),
  });
  const imported = await importMcpTools(
    { url: await serverOf(), headers },
    { name: 'who', credentials },
  );
  registry.registerAll(imported.tools);
  open.defer(async () => {
    await registry.close();
    await imported.close();
  });
  const call = (principal: string, count = 1) =>
    registry.createSession({ sessionId: `${principal}-${count}`, principal }).call('whoami', {});
  return { call, imported, registry };
}

const textOf = (output: unknown): unknown => (output as [{ text: string }])[0].text;

describe('an import with `credentials`', () => {
  test('lists with its own headers, and calls as the person, whoever else calls at once', async () => {
    const { call, imported } = await hostOf((principal) => `token-of-${principal}`);
    expect(imported.tools.map(({ name }) => name)).toEqual(['whoami']);
    const people = ['ann', 'bob', 'ann', 'cy', 'bob'];
    const results = await Promise.all(people.map((person, at) => call(person, at)));
    expect(results.map(({ output }) => textOf(output))).toEqual(people);
  });

  test('sends nothing for a person without a token, and nothing as the host', async () => {
    const { call } = await hostOf(() => {
      throw new Error('no token');
    });
    expect((await call('ann')).error?.reason).toBe('credentials_unavailable');
  });

  test('says what a server that refuses the token has answered, without the token', async () => {
    const { call } = await hostOf(() => 'canary-1234');
    const { error, success } = await call('ann');
    expect(success).toBe(false);
    expect(JSON.stringify(error) + String(error?.cause)).not.toContain('canary-1234');
  });

  test.each([
    ['a command', { command: 'node' }],
    ['nothing', null],
  ])('is refused for %s', async (_, connection) => {
    await expect(importMcpTools(connection as never, { credentials })).rejects.toThrow(
      'expected `credentials` only with `{ url }`',
    );
  });

  test('takes one name', async () => {
    const connection = { url: 'http://127.0.0.1:1' };
    await expect(importMcpTools(connection, { credentials: { a: {}, b: {} } })).rejects.toThrow(
      'an object with one name',
    );
  });
});

/** Links that do nothing, and a clock that the test moves. */
function world() {
  const links: { authorization: string; closed: boolean }[] = [];
  const due = new Set<() => void>();
  const people = createPeople({
    open: async (authorization): Promise<Link> => {
      const made = { authorization, closed: false };
      links.push(made);
      return {
        client: {} as never,
        lost: false,
        onlost: undefined,
        drop: () => {},
        close: async () => {
          made.closed = true;
        },
      };
    },
    clock: { now: () => 0, random: () => 0 },
    later(run) {
      due.add(run);
      return () => due.delete(run);
    },
  });
  const passTime = (): void => {
    for (const run of [...due]) run();
    due.clear();
  };
  const run = (who: string, work = async (): Promise<void> => {}) =>
    people.run(who, work, new AbortController().signal);
  return { links, people, passTime, run };
}

describe('the connections', () => {
  test('are one for each token, and end when nobody has used them for a while', async () => {
    const { links, passTime, run } = world();
    await run('a');
    await run('b');
    await run('a');
    expect(links.map(({ authorization }) => authorization)).toEqual(['a', 'b']);
    passTime();
    await expect.poll(() => links.every(({ closed }) => closed)).toBe(true);
    await run('a');
    expect(links).toHaveLength(3);
  });

  test('stay while they are used', async () => {
    const { links, passTime, run } = world();
    const done = signal();
    await run('a');
    const running = run('a', () => done.promise);
    await run('a');
    passTime();
    expect(links).toEqual([{ authorization: 'a', closed: false }]);
    done.resolve();
    await running;
  });

  test('are at most 100: the one unused for longest makes room, and one in use never', async () => {
    const { links, run } = world();
    const done = signal();
    const running = [run('busy', () => done.promise)];
    for (let at = 1; at < 100; at++) await run(`p${at}`);
    await run('next');
    expect(links.filter(({ closed }) => closed)).toEqual([{ authorization: 'p1', closed: true }]);
    for (let at = 2; at < 100; at++) running.push(run(`p${at}`, () => done.promise));
    running.push(run('next', () => done.promise));
    await expect(run('one more')).rejects.toThrow('100 people use the MCP server at the same time');
    done.resolve();
    await Promise.all(running);
    await run('one more');
  });

  test('open no more once they are closed', async () => {
    const { links, people, run } = world();
    await run('a');
    await people.close();
    expect(links).toEqual([{ authorization: 'a', closed: true }]);
    await expect(run('a')).rejects.toThrow('is closed');
  });
});
