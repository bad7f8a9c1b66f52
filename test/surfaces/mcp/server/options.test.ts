import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { HostToolRegistry } from '../../../../src/index.ts';
import {
  createMcpHandler,
  type McpHandlerOptions,
  type McpSource,
} from '../../../../src/surfaces/mcp/index.ts';
import { readHandlerOptions } from '../../../../src/surfaces/mcp/server/options.ts';
import { packageVersion } from '../../../../src/values/packages/own-version.ts';
import { initialize, initializeParams, opened, post } from './kit.ts';

const open = opened();
afterEach(() => open.close());

const begin = () => post({ jsonrpc: '2.0', id: 1, method: 'initialize', params: initializeParams });

/** A handler whose logger's lines are kept. */
function logged(
  source: (registry: HostToolRegistry) => McpSource,
  options: McpHandlerOptions = {},
  logger?: object,
) {
  const lines: { err?: unknown; source?: unknown }[] = [];
  const error = (data: object): void => void lines.push(data);
  const registry = new HostToolRegistry({ logger: { warn: () => {}, error, ...logger } });
  const handler = createMcpHandler(source(registry), options);
  open.defer(async () => {
    await handler.close();
    await registry.close();
  });
  return { handler, lines, logger: { warn: () => {}, error } };
}

test.each<[string, unknown, RegExp]>([
  [
    'an unknown name',
    { maxSession: 1 },
    /^createMcpHandler: unknown option `maxSession`; did you mean `maxSessions`\?$/,
  ],
  ['options that are a list', [], /expected an object of options/],
  ['no requests at all', { maxRequests: 0 }, /`maxRequests`/],
  ['half a session', { maxSessions: 0.5 }, /`maxSessions`/],
  ['a listener of errors that is none', { onError: 'log' }, /`onError`/],
])('options that cannot be meant throw at once: %s', (_what, options, message) => {
  expect(() => createMcpHandler(() => undefined as never, options as never)).toThrow(message);
});

test('only own members are options: those of a polluted prototype are not', () => {
  const odd = Object.prototype as { maxSessions?: unknown; approvals?: unknown };
  odd.maxSessions = 'many';
  odd.approvals = 'nobody';
  try {
    expect(readHandlerOptions({})).toMatchObject({ maxSessions: 1_000, clientApproves: true });
  } finally {
    delete odd.maxSessions;
    delete odd.approvals;
  }
});

test("the version is the package's where the name is, and the host's where that is", () => {
  const { version } = JSON.parse(
    readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'),
  ) as { version: string };
  expect(packageVersion).toBe(version);
  expect(readHandlerOptions({})).toMatchObject({ name: 'host-tools', version });
  expect(readHandlerOptions({ name: 'weather' })).toMatchObject({
    name: 'weather',
    version: '0.0.0',
  });
  expect(readHandlerOptions({ version: '2' })).toMatchObject({ name: 'host-tools', version: '2' });
});

describe('what the host’s own functions throw', () => {
  const boom = new Error('boom');
  const fails = (): never => {
    throw boom;
  };

  test.each<[string, McpHandlerOptions]>([
    ['authenticate', { authenticate: fails }],
    ['authenticate', { authenticate: () => Promise.reject(boom) }],
    ['sessionStore', { sessionStore: { save: fails, load: fails, remove: fails } }],
    ['eventStore', { eventStore: { storeEvent: fails, replayEventsAfter: fails } }],
  ])(
    'in `%s` reaches the logger of the session’s registry, with its stack',
    async (source, options) => {
      const { handler, lines } = logged(
        (registry) => registry.createSession({ sessionId: 's' }),
        options,
      );
      await (await handler.fetch(begin())).text();
      expect(lines[0]).toEqual({ err: boom, source });
    },
  );

  test('in a source that is a function reaches the logger that was given', async () => {
    const lines: object[] = [];
    const { handler } = logged(() => fails, {
      logger: { warn: () => {}, error: (data) => void lines.push(data) },
    });
    expect((await handler.fetch(begin())).status).toBe(500);
    expect(lines).toEqual([{ err: boom, source: 'source' }]);
  });

  test('and a logger or a listener of errors that throws or rejects affect nothing', async () => {
    const rejects = (): Promise<never> => Promise.reject(new Error('the sink is gone'));
    for (const sink of [fails, rejects]) {
      const { handler } = logged(
        (registry) => registry.createSession({ sessionId: 's' }),
        { authenticate: fails, onError: sink },
        { error: sink },
      );
      expect((await handler.fetch(begin())).status).toBe(401);
    }
    const { handler } = logged((registry) => registry.createSession({ sessionId: 's' }), {
      onError: rejects,
    });
    expect(await initialize(handler)).toMatch(/./);
  });
});
