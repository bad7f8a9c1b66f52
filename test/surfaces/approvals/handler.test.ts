import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import type { SuspendedApproval } from '../../../src/api/approval-store.ts';
import {
  defineTool,
  HostToolRegistry,
  memoryStore,
  type RegistryOptions,
  type ToolSession,
} from '../../../src/index.ts';
import { type SuspendedCall, sealRecord } from '../../../src/parts/durable-approvals/record.ts';
import { createTokenSigner } from '../../../src/parts/durable-approvals/token.ts';
import type { ApprovalsHandlerOptions } from '../../../src/surfaces/approvals/index.ts';
import { createApprovalsHandler, memoryApprovals } from '../../../src/surfaces/approvals/index.ts';
import type { WaitingApproval, WaitingList } from '../../../src/surfaces/pages/approvals-wire.ts';
import { approvalStoreOf, memoryApprovalPort } from '../../stores/shared/ports.ts';

const people = new Map([
  ['Bearer bob', 'bob'],
  ['Bearer ann', 'ann'],
]);

const expectedPerson =
  'Expected `authenticate` to give undefined, a text of 1 to 1024 characters, or such a text as ' +
  '`principal` with at most 100 `roles`.';

function setUp(options: Partial<ApprovalsHandlerOptions> = {}, registryOptions?: RegistryOptions) {
  const error = vi.fn();
  const registry = new HostToolRegistry(
    Object.assign(
      { approvals: { secret: 'x'.repeat(32) }, logger: { warn() {}, error } },
      registryOptions,
    ),
  );
  const paid: string[] = [];
  const registration = registry.register(
    defineTool({
      name: 'pay',
      description: 'Pays.',
      parameters: z.object({ to: z.string() }),
      requiresApproval: true,
      handler: ({ to }) => {
        paid.push(to);
        return 'a result that is the agent’s';
      },
    }),
  );
  const session = registry.createSession({
    sessionId: 's',
    principal: 'ann',
    approvalMode: 'suspend',
  });
  const handler = createApprovalsHandler(
    registry,
    Object.assign(
      {
        authenticate: (request: Request) => people.get(request.headers.get('authorization') ?? ''),
      },
      options,
    ),
  );
  const ask = (path: string, init: RequestInit = {}, headers: Record<string, string> = {}) =>
    handler.fetch(
      new Request(`http://127.0.0.1:4042${path}`, {
        ...init,
        headers: { authorization: 'Bearer bob', host: '127.0.0.1:4042', ...headers },
      }),
    );
  const post = (id: string, body: unknown, headers: Record<string, string> = {}) =>
    ask(
      `/api/approvals/${encodeURIComponent(id)}`,
      { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) },
      { 'content-type': 'application/json', ...headers },
    );
  const suspend = async (to = 'eve') => {
    const known = new Set((await registry.approvals.pending()).map(({ id }) => id));
    await session.call('pay', { to });
    const found = await session.approvals.pending();
    return found.find(({ id }) => !known.has(id)) as (typeof found)[number];
  };
  return { registry, registration, session, handler, ask, post, suspend, paid, error };
}

const read = async (response: Response): Promise<[number, unknown]> => [
  response.status,
  await response.json(),
];

interface Listed {
  readonly approvals: readonly {
    readonly id: string;
    readonly input: { readonly to: string };
    readonly leftOut?: readonly string[];
  }[];
  readonly next?: string;
}

describe('who is answered', () => {
  test('a stranger reads one answer, whatever is asked for and whatever exists', async () => {
    const { ask, suspend } = setUp();
    const { id } = await suspend();
    const answers = new Set<string>();
    for (const authorization of ['', 'Bearer eve', 'bob'])
      for (const path of ['/', '/api/approvals', `/api/approvals/${id}`, '/api/approvals/x', '/x'])
        for (const method of ['GET', 'POST', 'PUT', 'OPTIONS']) {
          const answer = await ask(path, { method }, { authorization });
          answers.add(`${answer.status} ${await answer.text()}`);
        }
    expect([...answers]).toEqual(['401 {"error":"Sign in first."}']);
  });

  test('an `authenticate` that does not answer delays no one', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { ask, error } = setUp({ authenticate: () => new Promise<never>(() => {}) });
    const asking = ask('/api/approvals');
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await asking).status).toBe(401);
    const err = new Error('`authenticate` took longer than 5000 ms.');
    expect(error).toHaveBeenCalledWith(expect.objectContaining({ err }), expect.any(String));
  });

  test.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('no keys');
      },
      'no keys',
    ],
    ['gives no text', () => 5, expectedPerson],
    ['gives a text that no one can see', () => '\u200b', expectedPerson],
    ['gives an empty text', () => ' ', expectedPerson],
  ])('nobody while `authenticate` %s, and the logger is told', async (_, authenticate, message) => {
    const { ask, error } = setUp({ authenticate: authenticate as never });
    expect((await ask('/api/approvals')).status).toBe(401);
    expect(error).toHaveBeenCalledExactlyOnceWith(
      { err: expect.objectContaining({ message }), source: 'approvals handler' },
      '`authenticate` of the approvals handler failed',
    );
  });

  test('only requests for a host that is meant, from pages that are meant', async () => {
    const local = setUp();
    const status = async (
      { ask }: ReturnType<typeof setUp>,
      headers: Record<string, string>,
    ): Promise<number> => (await ask('/api/approvals', {}, headers)).status;
    expect(await status(local, { host: 'localhost' })).toBe(200);
    expect(await status(local, { origin: 'http://127.0.0.1:4042' })).toBe(200);
    expect(await status(local, { host: 'inbox.example.com' })).toBe(403);
    expect(await status(local, { origin: 'https://evil.example' })).toBe(403);
    expect(await status(local, { origin: 'null' })).toBe(403);
    const open = setUp({
      allowedHosts: ['Inbox.example.com'],
      allowedOrigins: ['https://desk.example.com/'],
    });
    const host = 'inbox.example.com';
    expect(await status(open, { host })).toBe(200);
    expect(await status(open, { host, origin: 'https://inbox.example.com' })).toBe(200);
    expect(await status(open, { host, origin: 'https://desk.example.com' })).toBe(200);
    expect(await status(open, { host, origin: 'https://evil.example' })).toBe(403);
    expect(await status(open, { host: '127.0.0.1:4042' })).toBe(403);
  });

  test('a page of a listed origin learns so before it signs in, without cookies', async () => {
    const { ask } = setUp({ allowedOrigins: ['https://desk.example.com'] });
    const origin = 'https://desk.example.com';
    const before = await ask(
      '/api/approvals',
      { method: 'OPTIONS' },
      { origin, authorization: '' },
    );
    expect(before.status).toBe(204);
    expect(before.headers.get('access-control-allow-origin')).toBe(origin);
    expect(before.headers.get('access-control-allow-methods')).toBe('GET, POST');
    expect(before.headers.has('access-control-allow-credentials')).toBe(false);
    const answer = await ask('/api/approvals', {}, { origin });
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(answer.headers.get('vary')).toBe('Origin');
  });
});

describe('the page', () => {
  test('is at the base path and a slash, under its own policy', async () => {
    const { ask } = setUp({ basePath: '/desk/approvals' });
    const page = await ask('/desk/approvals/');
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toMatch(/script-src 'sha256-/);
    expect(page.headers.get('content-security-policy')).toMatch(/frame-ancestors 'none'/);
    expect(page.headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(await page.text()).toMatch(/^<!doctype html>/);
    const bare = await ask('/desk/approvals');
    expect([bare.status, bare.headers.get('location')]).toEqual([308, 'approvals/']);
    expect((await ask('/desk/approvals/', { method: 'POST' })).status).toBe(404);
    expect((await ask('/desk/')).status).toBe(404);
  });

  test('learns who answers, what may be edited, and the origins', async () => {
    const { registry, session, ask, suspend } = setUp(
      {},
      {
        approvals: { secret: 'x'.repeat(32) },
        redact: ['password'],
        rules: [{ effect: 'ask', tools: 'pay', origins: ['untrusted', 'unknown'] }],
      },
    );
    registry.register(
      defineTool({
        name: 'enter',
        description: 'Signs in.',
        parameters: z.object({ password: z.string() }),
        requiresApproval: true,
        handler: () => 'in',
      }),
    );
    await suspend('eve@evil.example');
    await session.call('enter', { password: 'a secret one' });
    const list = (await (await ask('/api/approvals')).json()) as {
      by: string;
      approvals: { tool: { name: string }; editable: boolean; originWords: string[] }[];
    };
    expect(list.by).toBe('bob');
    const of = (tool: string) => list.approvals.find((one) => one.tool.name === tool);
    expect(of('pay')).toMatchObject({
      editable: true,
      originWords: [expect.stringMatching(/^`to` eve@evil\.example was seen nowhere/)],
    });
    expect(of('enter')?.editable).toBe(false);
    expect(JSON.stringify(list)).not.toContain('a secret one');
  });

  test('gets the schema for a form, with one approval that may be edited and not with a list', async () => {
    const { registry, registration, session, ask, suspend } = setUp();
    const { id } = await suspend();
    const schemaOf = async (of: string, from = ask) =>
      ((await (await from(`/api/approvals/${of}`)).json()) as { schema?: unknown }).schema;
    expect(await schemaOf(id)).toMatchObject({ properties: { to: { type: 'string' } } });
    expect(await (await ask('/api/approvals')).text()).not.toContain('"schema"');
    // A tool of the session itself.
    session.register(
      defineTool({
        name: 'own',
        description: 'Own.',
        parameters: z.object({ mine: z.string() }),
        requiresApproval: true,
        handler: () => 'x',
      }),
    );
    await session.call('own', { mine: 'x' });
    const own = (await registry.approvals.pending()).find(({ tool }) => tool.name === 'own');
    expect(await schemaOf(own?.id ?? '')).toMatchObject({ properties: { mine: {} } });
    // A tool that has changed since, and one with a long schema.
    registration.update({ description: 'Pays twice.' });
    expect(await schemaOf(id)).toBeUndefined();
    session.register(
      defineTool({
        name: 'long',
        description: 'Long.',
        parameters: z.object({ to: z.string().describe('x'.repeat(70_000)) }),
        requiresApproval: true,
        handler: () => 'x',
      }),
    );
    await session.call('long', { to: 'x' });
    const long = (await registry.approvals.pending()).find(({ tool }) => tool.name === 'long');
    expect(await schemaOf(long?.id ?? '')).toBeUndefined();
    const fixed = setUp({ allowEdits: false });
    expect(await schemaOf((await fixed.suspend()).id, fixed.ask)).toBeUndefined();
  });

  test('learns in one line what a call is about, also of a record of an earlier version', async () => {
    const store = memoryApprovalPort();
    const withoutSummary = {
      ...store,
      put(record: SuspendedApproval) {
        // What an earlier version would have stored.
        const { request, input, idempotencyKey, principal } = record;
        const { summary: _, ...old } = request;
        const signer = createTokenSigner('x'.repeat(32));
        const call = { request: old, input, idempotencyKey, principal } as SuspendedCall;
        return store.put(sealRecord(signer, call).record);
      },
    };
    for (const one of [store, withoutSummary]) {
      const { ask, post, suspend } = setUp(
        {},
        { approvals: { secret: 'x'.repeat(32), store: approvalStoreOf(one) } },
      );
      const { id } = await suspend('eve');
      const { approvals } = (await (await ask('/api/approvals')).json()) as {
        approvals: { id: string; summary: string }[];
      };
      expect(approvals).toMatchObject([{ id, summary: 'pay to eve' }]);
      expect((await post(id, { decision: 'reject_once' })).status).toBe(200);
    }
  });

  test('edits are refused if `allowEdits` is false, and the approval stays', async () => {
    const { ask, post, suspend, paid } = setUp({ allowEdits: false });
    const { id } = await suspend();
    const shown = (await (await ask(`/api/approvals/${id}`)).json()) as { editable: boolean };
    expect(shown.editable).toBe(false);
    expect(await read(await post(id, { decision: 'allow_once', input: { to: 'bob' } }))).toEqual([
      403,
      { error: 'An approval is allowed or rejected as it is: see the option `allowEdits`.' },
    ]);
    expect((await post(id, { decision: 'allow_once' })).status).toBe(200);
    expect(paid).toEqual(['eve']);
  });
});

describe('the list', () => {
  test('shows what waits, page by page, without tokens', async () => {
    const { ask, suspend } = setUp();
    const all = [await suspend('a'), await suspend('b'), await suspend('c')];
    const seen: string[] = [];
    let next: string | undefined = '';
    let texts = '';
    while (next !== undefined) {
      const after: string = next === '' ? '' : `&after=${encodeURIComponent(next)}`;
      const answer = await ask(`/api/approvals?limit=2${after}`);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
      const text = await answer.text();
      texts += text;
      const listed = JSON.parse(text) as Listed;
      seen.push(...listed.approvals.map(({ input }) => input.to));
      next = listed.next;
    }
    expect(seen.sort()).toEqual(['a', 'b', 'c']);
    expect(texts).not.toContain('token');
    for (const { token } of all) {
      expect(token).toMatch(/\./);
      expect(texts).not.toContain(token);
    }
  });

  test('with the line of the program that makes a call, and its source if that is short', async () => {
    const { registry, ask } = setUp();
    const session = registry.createSession({
      sessionId: 'programs',
      principal: 'ann',
      approvalMode: 'suspend',
      code: {},
    });
    const long = `// ${'x'.repeat(5_000)}`;
    for (const first of ['// short', long])
      await session.call('run_code', { code: `${first}\nawait tools.pay({ to: 'eve' })` });
    const [, list] = (await read(await ask('/api/approvals'))) as [number, WaitingList];
    const told = list.approvals.map(({ program, leftOut, parent }) => [
      program?.line,
      program?.source?.length,
      leftOut,
      parent?.tool,
    ]);
    expect(told).toEqual([
      [2, 39, undefined, 'run_code'],
      [2, undefined, ['program'], 'run_code'],
    ]);
    const id = list.approvals.find(({ leftOut }) => leftOut !== undefined)?.id as string;
    const [, one] = await read(await ask(`/api/approvals/${id}`));
    expect(one).toMatchObject({ program: { line: 2, source: expect.stringContaining(long) } });
  });

  test('of one session, of one principal', async () => {
    const { ask, suspend } = setUp();
    await suspend();
    const count = async (query: string): Promise<number> =>
      ((await (await ask(`/api/approvals?${query}`)).json()) as Listed).approvals.length;
    expect(await count('sessionId=s')).toBe(1);
    expect(await count('sessionId=t')).toBe(0);
    expect(await count('principal=ann')).toBe(1);
    expect(await count('principal=bob')).toBe(0);
  });

  test.each([
    ['limit=0', 'Expected `limit` to be a whole number from 1 to 200.'],
    ['limit=201', 'Expected `limit` to be a whole number from 1 to 200.'],
    ['after=x', 'Expected `after` to be the `next` of another answer.'],
    ['sessionId=', 'Expected `sessionId` and `principal` to be texts of 1 to 1024 characters.'],
    ['sessionID=s', 'Unknown filter `sessionID`; did you mean `sessionId`?'],
  ])('?%s is refused', async (query, error) => {
    const { ask } = setUp();
    expect(await read(await ask(`/api/approvals?${query}`))).toEqual([400, { error }]);
  });

  test('stays short, however long the approvals are', async () => {
    const { ask, suspend } = setUp();
    for (let call = 0; call < 6; call++) await suspend(`${call}`.repeat(900_000));
    const text = await (await ask('/api/approvals')).text();
    expect(text.length).toBeLessThan(20_000);
    const { approvals, next } = JSON.parse(text) as Listed;
    expect([approvals.length, next]).toEqual([6, undefined]);
    for (const [call, { id, input, leftOut }] of approvals.entries()) {
      expect([input, leftOut]).toEqual([undefined, ['input']]);
      const whole = (await (await ask(`/api/approvals/${id}`)).json()) as WaitingApproval;
      expect(JSON.stringify(whole.input)).toContain(`${call}`.repeat(900_000));
      expect(whole.leftOut).toBeUndefined();
    }
  });
});

describe('one approval', () => {
  test('is shown by its id, and answered by the person who has signed in', async () => {
    const { registry, ask, post, suspend, paid } = setUp();
    const settled: unknown[] = [];
    registry.events.on('approval:settled', ({ id, by }) => settled.push([id, by]));
    const { id, token } = await suspend();
    const shown = await (await ask(`/api/approvals/${id}`)).text();
    expect(JSON.parse(shown)).toMatchObject({ id, input: { to: 'eve' }, principal: 'ann' });
    expect(shown).not.toContain(token);
    expect(await read(await post(id, { decision: 'allow_once', by: 'mallory' }))).toEqual([
      200,
      { id, decision: 'allow_once', status: 'succeeded' },
    ]);
    expect(settled).toEqual([[id, 'bob']]);
    expect(paid).toEqual(['eve']);
  });

  test('is answered once: 409 for later ones, and 404 for an id that never was', async () => {
    const { ask, post, suspend, paid } = setUp();
    const { id, token = '' } = await suspend();
    const both = await Promise.all([
      post(id, { decision: 'allow_once' }),
      post(id, { decision: 'reject_once' }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const late = { error: 'The approval was answered before.' };
    expect(await read(await post(id, { decision: 'allow_once' }))).toEqual([409, late]);
    const unknown = { error: 'No call waits for approval under this id.' };
    expect(await read(await post('x', { decision: 'allow_once' }))).toEqual([404, unknown]);
    expect(await read(await ask('/api/approvals/x'))).toEqual([404, unknown]);
    expect((await ask(`/api/approvals/${id}`)).status).toBe(404);
    expect((await post(token, { decision: 'allow_once' })).status).toBe(404);
    expect(paid.length).toBeLessThanOrEqual(1);
  });

  test('is answered where a call waits in this process too', async () => {
    const { registry, post, paid } = setUp();
    const waits = registry.createSession({ sessionId: 'w', approver: () => new Promise(() => {}) });
    const call = waits.call('pay', { to: 'x' });
    await vi.waitFor(async () => expect(await registry.approvals.pending()).toHaveLength(1));
    const [asked] = await registry.approvals.pending();
    const id = asked?.id ?? '';
    const body = { decision: 'allow_once', input: { to: 'y' } };
    expect((await read(await post(id, body)))[0]).toBe(200);
    expect((await call).success).toBe(true);
    expect(paid).toEqual(['y']);
    expect((await post(id, body)).status).toBe(409);
  });

  test('an edit that the schema refuses is reported, and answers nothing', async () => {
    const { ask, post, suspend, paid } = setUp();
    const { id } = await suspend('eve');
    const [status, body] = await read(await post(id, { decision: 'allow_once', input: { to: 5 } }));
    expect([status, body]).toEqual([
      400,
      {
        error: expect.stringMatching(/^Not answered: the changed input does not fit .*\nto: /s),
        issues: [{ path: 'to', message: expect.stringMatching(/expected string/) }],
      },
    ]);
    expect((await ask(`/api/approvals/${id}`)).status).toBe(200);
    expect((await post(id, { decision: 'allow_once', input: { to: 'ann' } })).status).toBe(200);
    expect(paid).toEqual(['ann']);
  });

  test('a rejection reaches the agent with its message', async () => {
    const { registry, post, suspend } = setUp();
    const { id } = await suspend();
    const denied: unknown[] = [];
    registry.events.on('approval:denied', ({ by, message }) => denied.push([by, message]));
    const [status, told] = await read(await post(id, { decision: 'reject_once', message: 'no' }));
    expect([status, told]).toMatchObject([
      200,
      { id, decision: 'reject_once', status: 'rejected', code: 'approval_denied' },
    ]);
    expect(denied).toEqual([['bob', 'no']]);
  });

  test('no one can answer for themselves under `fourEyes`, and the approval stays', async () => {
    const { post, suspend } = setUp({}, { approvals: { secret: 'x'.repeat(32), fourEyes: true } });
    const { id } = await suspend();
    const own = await post(id, { decision: 'allow_once' }, { authorization: 'Bearer ann' });
    expect(own.status).toBe(403);
    expect((await post(id, { decision: 'allow_once' })).status).toBe(200);
  });

  test.each<[string, unknown, number, string, Record<string, string>?]>([
    ['no JSON', '{', 400, 'Expected a JSON object.'],
    ['a list', [], 400, 'Expected a JSON object.'],
    ['deep JSON', `{"input":${'['.repeat(100)}`, 400, 'Expected a JSON object.'],
    [
      'no decision',
      {},
      400,
      'Expected `decision` to be one of allow_once, allow_always, reject_once, reject_always.',
    ],
    [
      'a misspelt member',
      { decision: 'allow_once', inputs: {} },
      400,
      'Unknown member `inputs`; did you mean `input`?',
    ],
    [
      'an input that is no object',
      { decision: 'allow_once', input: 5 },
      400,
      'Expected `input` to be a JSON object.',
    ],
    [
      'a long message',
      { decision: 'reject_once', message: 'x'.repeat(4_001) },
      400,
      'Expected `message` to be a text of at most 4000 characters.',
    ],
    [
      'a form',
      'decision=allow_once',
      415,
      'Expected a body of the type application/json.',
      { 'content-type': 'text/plain' },
    ],
    ['a large body', 'x'.repeat(2_097_153), 413, 'The body is too large.'],
  ])('%s is refused, and the approval stays', async (_, body, status, error, headers) => {
    const { registry, post, suspend } = setUp();
    const { id } = await suspend();
    expect(await read(await post(id, body, headers))).toEqual([status, { error }]);
    expect(await registry.approvals.pending()).toHaveLength(1);
  });

  test('a call that runs for long is answered with 202', async () => {
    vi.useFakeTimers();
    const { registry, session, post } = setUp();
    registry.register(
      defineTool({
        name: 'slow',
        description: 'Takes long.',
        parameters: z.object({}),
        requiresApproval: true,
        handler: () => new Promise((resolve) => setTimeout(() => resolve('done'), 15_000)),
      }),
    );
    await session.call('slow', {});
    const [asked] = await registry.approvals.pending();
    const id = asked?.id ?? '';
    const answer = post(id, { decision: 'allow_once' });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await read(await answer)).toEqual([
      202,
      { id, decision: 'allow_once', status: 'running' },
    ]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect((await session.approvals.outcome(id)).status).toBe('settled');
  });

  test.each<[string, number, (registry: HostToolRegistry) => unknown]>([
    [
      'of another principal',
      503,
      (registry) => registry.createSession({ sessionId: 's', principal: 'eve' }),
    ],
    [
      'that is closed',
      503,
      async (registry) => {
        const made = registry.createSession({ sessionId: 's', principal: 'ann' });
        await made.close();
        return made;
      },
    ],
    [
      'whose tool has changed',
      409,
      (registry) => {
        registry.unregister('pay');
        return registry.createSession({ sessionId: 's', principal: 'ann' });
      },
    ],
  ])('a session %s answers nothing, and the question stays', async (_, status, make) => {
    const store = memoryApprovals();
    const secret = 'x'.repeat(32);
    const { session, suspend } = setUp({}, { approvals: { secret, store } });
    const { id } = await suspend();
    const one: { registry?: HostToolRegistry } = {};
    const opened = setUp(
      {},
      {
        approvals: {
          secret,
          store,
          session: () => make(one.registry as HostToolRegistry) as ToolSession,
        },
      },
    );
    one.registry = opened.registry;
    await opened.session.close();
    const first = await opened.post(id, { decision: 'allow_once' });
    expect(first.status).toBe(status);
    expect((await opened.post(id, { decision: 'allow_once' })).status).toBe(status);
    expect(opened.paid).toEqual([]);
    expect(await session.approvals.pending()).toHaveLength(1);
  });

  test('a store that fails is reported, and answered with 503', async () => {
    const fails = () => {
      throw new Error('disk full');
    };
    const store = { ...memoryStore(), apply: fails };
    const { ask, error } = setUp({}, { approvals: { secret: 'x'.repeat(32), store } });
    expect((await ask('/api/approvals')).status).toBe(503);
    expect(error).toHaveBeenCalledExactlyOnceWith(
      { err: expect.objectContaining({ message: 'disk full' }), source: 'approvals handler' },
      'the approvals handler failed',
    );
  });
});

describe('the base path', () => {
  test('is where the handler answers, and nowhere else', async () => {
    const { ask } = setUp({ basePath: '/a/inbox' });
    expect((await ask('/a/inbox/api/approvals')).status).toBe(200);
    for (const path of ['/api/approvals', '/a/inboxes/api/approvals', '/a', '/a/inbox/api'])
      expect((await ask(path)).status).toBe(404);
  });

  test.each(['inbox', '/inbox/', '/in box'])('%s is refused', (basePath) => {
    expect(() => setUp({ basePath })).toThrow(
      'createApprovalsHandler: expected `basePath` to be "" or a path such as `/approvals`, ' +
        `without a slash at its end, got \`${basePath}\` (string).`,
    );
  });

  test('options are checked', () => {
    expect(() => setUp({ authenticate: 5 as never })).toThrow(
      'createApprovalsHandler: expected `authenticate` to be a function, got `5` (number).',
    );
    expect(() => setUp({ allowedOrigins: ['*'] })).toThrow(
      'createApprovalsHandler: expected `allowedOrigins` to be origins such as ' +
        '`https://app.example.com`, got `*` (string).',
    );
  });
});
