/** What the relay is told of the tools, with each request in the hands of the test. */
import { describe, expect, test, vi } from 'vitest';
import type { JsonObject } from '../../../src/surfaces/relay-client/json.ts';
import {
  createRegistration,
  type Registration,
} from '../../../src/surfaces/relay-client/registration.ts';
import {
  createScrub,
  relayClientError,
} from '../../../src/surfaces/relay-client/relay-client-error.ts';
import { createScope, type Scope } from '../../../src/surfaces/relay-client/scope.ts';
import { prepareTools, type ToolList } from '../../../src/surfaces/relay-client/tool-list.ts';

interface Asked {
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly resolve: (answer: JsonObject) => void;
  readonly reject: (error: unknown) => void;
}

interface World {
  readonly registration: Registration;
  readonly asked: Asked[];
  readonly life: Scope;
  /** Numbers of the promises that were settled. */
  readonly settled: string[];
  set(name: string, list: ToolList): void;
  /** Answers the newest request. */
  answer(answer?: JsonObject): Promise<void>;
}

const tools = (...names: readonly string[]): ToolList =>
  prepareTools(
    names.map((name) => ({ name, description: '', parameters: {}, handler: () => null })),
  );

function world(): World {
  const asked: Asked[] = [];
  const settled: string[] = [];
  const life = createScope();
  const registration = createRegistration(
    {
      http: {
        call: (_scope, _method, path, more) =>
          new Promise((resolve, reject) => {
            asked.push({
              path,
              body: JSON.parse(more?.body ?? '{}') as Record<string, unknown>,
              resolve,
              reject,
            });
          }),
        open: () => Promise.reject(new Error('not asked for')),
        scrub: createScrub('t'),
      },
      life,
      random: () => 0.5,
      plugin: {},
    },
    { taken() {}, refused() {}, over: (error) => life.end(error) },
  );
  return {
    registration,
    asked,
    life,
    settled,
    set(name, list) {
      registration.set(list, name).then(
        () => settled.push(name),
        (error: { code?: string }) => settled.push(`${name}: ${error.code}`),
      );
    },
    async answer(answer = {}) {
      asked.at(-1)?.resolve(answer);
      await turn();
    },
  };
}
const turn = async (): Promise<void> => {
  for (let times = 0; times < 10; times++) await Promise.resolve();
};

describe('a registration that is made again', () => {
  test('settles no update that came meanwhile: that has its own turn', async () => {
    const { registration, asked, settled, set, answer } = world();
    set('first', tools('a'));
    await answer({ toolsRevision: 1 });
    registration.seen(0, true);
    set('second', tools('b'));
    expect(asked.map(({ path }) => path)).toEqual(['/register-tools', '/register-tools']);
    await answer({ toolsRevision: 1 });
    expect(settled).toEqual(['first']);
    expect(asked[2]).toMatchObject({
      path: '/update-tools',
      body: { added: [{ name: 'b' }], removed: ['a'] },
    });
    await answer({ toolsRevision: 2 });
    expect(settled).toEqual(['first', 'second']);
  });

  test.each<[string, number | undefined, boolean]>([
    ['the revision before it', 1, false],
    ['the revision after it', 2, false],
    ['another revision', 7, true],
    ['nothing', undefined, true],
  ])('while an update is under way, where the relay says %s: %s', async (_, seen, again) => {
    const { registration, asked, set, answer } = world();
    set('first', tools('a'));
    await answer({ toolsRevision: 1 });
    set('second', tools('b'));
    registration.seen(seen, true);
    await answer({ toolsRevision: 2 });
    expect(asked.map(({ path }) => path)).toEqual([
      '/register-tools',
      '/update-tools',
      ...(again ? ['/register-tools'] : []),
    ]);
  });

  test('brings what the relay took last, not what it refused', async () => {
    const { registration, asked, settled, set, answer } = world();
    set('first', tools('a'));
    await answer({ toolsRevision: 1 });
    set('second', tools('b'));
    asked.at(-1)?.reject(relayClientError('too_large', '', { status: 413 }));
    await turn();
    expect(settled).toEqual(['first', 'second: too_large']);
    registration.seen(9, true);
    expect(asked.at(-1)).toMatchObject({
      path: '/register-tools',
      body: { availableTools: [{ name: 'a' }] },
    });
    await answer({ toolsRevision: 10 });
    expect(asked).toHaveLength(3);
  });
});

test.each<[string, JsonObject | undefined]>([
  ['it has them', undefined],
  ['it has none', { code: 'no_tools_registered' }],
])(
  'without any tools takes away what the relay may have, where that is not known: %s',
  async (_, refusal) => {
    vi.useFakeTimers();
    const { registration, asked, settled, set, answer } = world();
    set('first', tools('a', 'b'));
    await answer({ toolsRevision: 1 });
    registration.seen(undefined, true);
    asked.at(-1)?.reject(relayClientError('store_unavailable', '', { status: 503 }));
    await turn();
    set('second', tools());
    await vi.advanceTimersByTimeAsync(2_000);
    expect(asked.slice(2).map(({ path, body }) => [path, body.removed])).toEqual([
      ['/update-tools', ['a', 'b']],
    ]);
    if (refusal === undefined) await answer({ toolsRevision: 2 });
    else asked.at(-1)?.reject(relayClientError(String(refusal.code), '', { status: 409 }));
    await turn();
    expect([settled, asked.length]).toEqual([['first', 'second'], 3]);
  },
);

test('a relay that refuses each registration is not asked forever', async () => {
  const { registration, asked, settled, set, answer } = world();
  const refuse = async (): Promise<void> => {
    asked.at(-1)?.reject(relayClientError('no_tools_registered', '', { status: 409 }));
    await turn();
  };
  set('first', tools('a'));
  await refuse();
  expect([asked.length, settled]).toEqual([1, ['first: no_tools_registered']]);
  set('second', tools('a'));
  await answer({ toolsRevision: 1 });
  registration.seen(9, true);
  set('third', tools('b'));
  await refuse();
  await refuse();
  await refuse();
  expect(asked.map(({ path }) => path)).toEqual(Array(4).fill('/register-tools'));
  expect(settled).toEqual(['first: no_tools_registered', 'second', 'third: no_tools_registered']);
});

test('a tool that was refused is tried again with the next update', async () => {
  const { registration, asked, set, answer } = world();
  set('first', tools('a', 'b'));
  await answer({
    toolsRevision: 1,
    failedTools: [{ toolName: 'b', error: 'no', recoverable: true }, null, {}, 7],
  });
  expect(registration.failed).toEqual([{ toolName: 'b', error: 'no', recoverable: true }]);
  set('second', tools('a', 'b'));
  expect(asked.at(-1)?.body).toMatchObject({ added: [{ name: 'b' }], removed: [], modified: [] });
  await answer({ toolsRevision: 2, failedTools: [] });
  expect(registration.failed).toEqual([]);
});

test('the end of the connection settles what is open, and leaves no timer', async () => {
  vi.useFakeTimers();
  const { asked, life, settled, set } = world();
  set('first', tools('a'));
  asked[0]?.reject(relayClientError('network_error', ''));
  await turn();
  expect(vi.getTimerCount()).toBe(1);
  life.end(relayClientError('closed', ''));
  await turn();
  set('late', tools('b'));
  await turn();
  expect([settled, vi.getTimerCount()]).toEqual([['first: closed', 'late: closed'], 0]);
});
