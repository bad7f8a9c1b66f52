import { AsyncLocalStorage } from 'node:async_hooks';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';
import type {
  WebhookNotifierOptions,
  WebhookRequest,
  WebhookResponse,
} from '../../../src/surfaces/approvals/index.ts';
import { webhookNotifier } from '../../../src/surfaces/approvals/index.ts';
import { createWebhookQueue } from '../../../src/surfaces/approvals/webhook-queue.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const url = 'https://chat.example.com/hooks/T0P-SECRET';

type Answer = number | Error | 'never';

function setUp(answers: readonly Answer[] = [200], sending: () => void = () => {}) {
  const logged: { data: unknown; message: string | undefined }[] = [];
  const log = (data: object, message?: string): void => void logged.push({ data, message });
  const registry = new HostToolRegistry({
    approvals: { secret: 'x'.repeat(32) },
    logger: { warn: log, error: log },
    redact: ['password'],
  });
  registry.register(
    defineTool({
      name: 'pay',
      description: 'Pays.',
      parameters: z.object({ to: z.string(), password: z.string().optional() }),
      requiresApproval: true,
      handler: ({ to }) => `paid ${to}`,
    }),
  );
  const sent: { url: string; init: WebhookRequest }[] = [];
  const send = (to: string, init: WebhookRequest): Promise<WebhookResponse> => {
    const answer = answers[Math.min(sent.length, answers.length - 1)] as Answer;
    sent.push({ url: to, init });
    sending();
    if (answer === 'never') return new Promise(() => {});
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve({ status: answer });
  };
  const notifier = webhookNotifier({ url, secret, fetch: send });
  const stop = notifier.attach(registry);
  const session = registry.createSession({
    sessionId: 's',
    principal: 'ann',
    approvalMode: 'suspend',
  });
  const ask = (to = 'eve') => session.call('pay', { to, password: 'hunter2-secret' });
  const bodies = () => sent.map(({ init }) => JSON.parse(init.body) as Told);
  return { registry, session, notifier, stop, sent, bodies, logged, ask };
}

interface Told {
  readonly type: string;
  readonly timestamp: string;
  readonly data: {
    readonly request: Record<string, unknown>;
    readonly [name: string]: unknown;
  };
}

describe('what is sent', () => {
  test('one signed message when a call waits, and one when that is over', async () => {
    const { registry, notifier, sent, bodies, ask } = setUp();
    await ask();
    const id = (await registry.approvals.pending())[0]?.id ?? '';
    await registry.approvals.answer(id, { decision: 'allow_once', by: 'bob' });
    await notifier.flush();
    expect(bodies().map(({ type }) => type)).toEqual(['approval.required', 'approval.settled']);
    expect(bodies()[0]?.data).toMatchObject({
      sessionId: 's',
      principal: 'ann',
      request: { id, tool: { name: 'pay' }, input: { to: 'eve' }, title: 'Allow `pay` to run?' },
    });
    expect(bodies()[1]?.data).toMatchObject({
      id,
      by: 'bob',
      decision: 'allow_once',
      status: 'succeeded',
      toolName: 'pay',
    });
    for (const { url: to, init } of sent) {
      expect(to).toBe(url);
      expect(init).toMatchObject({ method: 'POST', redirect: 'manual' });
      expect(new Webhook(secret).verify(init.body, { ...init.headers })).toEqual(
        JSON.parse(init.body),
      );
    }
    expect(new Set(sent.map(({ init }) => init.headers['webhook-id'])).size).toBe(2);
  });

  test('no token and no secret field', async () => {
    const { session, notifier, sent, ask } = setUp();
    await ask();
    await notifier.flush();
    const [approval] = await session.approvals.pending();
    const all = JSON.stringify(sent);
    expect(approval?.token).toMatch(/\./);
    expect(all).not.toContain(approval?.token);
    expect(all).not.toContain('token');
    expect(all).not.toContain('hunter2');
  });

  test('a question that is too long is sent without its input', async () => {
    const { notifier, bodies, ask } = setUp();
    await ask('e'.repeat(250_000));
    await notifier.flush();
    expect(bodies()[0]?.data.request).toMatchObject({ shortened: true, tool: { name: 'pay' } });
    expect(bodies()[0]?.data.request).not.toHaveProperty('input');
  });

  test('the program of a call and its line, and the line alone if the source is too long', async () => {
    const { registry, notifier, bodies } = setUp();
    const session = registry.createSession({
      sessionId: 'programs',
      principal: 'ann',
      approvalMode: 'suspend',
      code: {},
    });
    const call = "\nawait tools.pay({ to: 'eve' });";
    // As JSON, it is six times as long.
    const long = `// ${'\u0001'.repeat(65_000)}${call}`;
    for (const code of [`// short${call}`, long]) await session.call('run_code', { code });
    await notifier.flush();
    const told = bodies().map(({ data: { request } }) => [request.program, request.input]);
    expect(told).toEqual([
      [{ source: `// short${call}`, line: 2 }, { to: 'eve' }],
      [{ line: 2 }, { to: 'eve' }],
    ]);
  });

  test('nothing once it was detached, or closed', async () => {
    const { registry, notifier, stop, sent, ask } = setUp();
    stop();
    await ask();
    expect(sent).toEqual([]);
    notifier.attach(registry);
    notifier.close();
    notifier.close();
    await ask();
    await notifier.flush();
    expect(sent).toEqual([]);
    expect(() => notifier.attach(registry)).toThrow(
      'webhookNotifier: the notifier is closed. Make another one.',
    );
  });
});

describe('a receiver that does not take it', () => {
  test.each([
    ['fails', [500, new Error('reset'), 200]],
    ['redirects', [302, 302, 200]],
  ] as const)('and %s gets it again after growing pauses, signed anew', async (_, answers) => {
    vi.useFakeTimers({ now: 1_700_000_000_000 });
    const { notifier, sent, logged, ask } = setUp(answers);
    await ask();
    await vi.advanceTimersByTimeAsync(999);
    expect(sent.length).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(sent.length).toBe(2);
    await vi.advanceTimersByTimeAsync(4_000);
    await notifier.flush();
    expect(sent.map(({ init }) => init.headers['webhook-timestamp'])).toEqual([
      '1700000000',
      '1700000001',
      '1700000005',
    ]);
    expect(new Set(sent.map(({ init }) => init.headers['webhook-id'])).size).toBe(1);
    expect(new Set(sent.map(({ init }) => init.headers['webhook-signature'])).size).toBe(3);
    expect(logged).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is given up after six attempts, and logged without the address', async () => {
    vi.useFakeTimers();
    const { notifier, sent, logged, ask } = setUp([new Error(`cannot reach ${url}`)]);
    await ask();
    const flushed = notifier.flush();
    await vi.advanceTimersByTimeAsync(341_000);
    await flushed;
    expect(sent.length).toBe(6);
    expect(logged).toMatchObject([
      {
        data: { source: 'webhook', attempts: 6, err: { message: 'cannot reach [the address]' } },
        message: 'gave up sending a webhook',
      },
    ]);
    expect((logged[0] as { data: { err: Error } }).data.err.stack).not.toContain('T0P-SECRET');
  });

  test('and says that it is gone gets it no more', async () => {
    const { notifier, sent, logged, ask } = setUp([410]);
    await ask();
    await notifier.flush();
    expect(sent.length).toBe(1);
    expect(logged).toMatchObject([
      { data: { err: { message: 'The receiver of the webhook answered 410.' } } },
    ]);
  });

  test('and never answers is given up after ten seconds, even if `fetch` ignores it', async () => {
    vi.useFakeTimers();
    const { notifier, sent, ask } = setUp(['never', 200]);
    await ask();
    await vi.advanceTimersByTimeAsync(9_999);
    expect(sent[0]?.init.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1_001);
    expect(sent[0]?.init.signal.aborted).toBe(true);
    expect(sent.length).toBe(2);
    await notifier.flush();
  });

  test('delays no call, and waiting messages are dropped on close', async () => {
    vi.useFakeTimers();
    const { notifier, sent, logged, ask } = setUp(['never']);
    for (let call = 0; call < 20; call++) expect((await ask()).success).toBe(false);
    // Eight at once; each of them would wait for ten seconds.
    expect(sent.length).toBe(8);
    notifier.close();
    await notifier.flush();
    expect(logged).toEqual([
      {
        data: { source: 'webhook', dropped: 20 },
        message: 'webhooks were dropped: the notifier was closed',
      },
    ]);
    expect(sent.every(({ init }) => init.signal.aborted)).toBe(true);
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each([
    ['1 000 messages', 'x', 1_000],
    ['16 million characters', 'x'.repeat(200_000), 80],
  ])('%s wait at most, and the rest is reported once', (_, body, most) => {
    const warn = vi.fn();
    const state = { now: () => 0, warn, hostFault() {} } as never;
    const send = () => new Promise<never>(() => {});
    const queue = createWebhookQueue({ url, key: Buffer.alloc(32), send });
    for (let n = 0; n < most + 5; n++) queue.push({ id: `msg_${n}`, body }, state);
    expect(warn.mock.calls).toEqual([
      [
        { source: 'webhook', waiting: most },
        'too many webhooks wait; newer ones are dropped',
        'error',
      ],
    ]);
    queue.close();
    expect(warn).toHaveBeenLastCalledWith(
      { source: 'webhook', dropped: most },
      'webhooks were dropped: the notifier was closed',
    );
  });

  test('a `fetch` that throws at once, or gives no answer, is an attempt that failed', async () => {
    vi.useFakeTimers();
    const { registry, session, notifier } = setUp();
    notifier.close();
    let attempts = 0;
    const other = webhookNotifier({
      url,
      secret,
      fetch: () => {
        if (++attempts === 1) throw new Error('at once');
        return (attempts === 2 ? undefined : { status: 204 }) as never;
      },
    });
    other.attach(registry);
    expect((await session.call('pay', { to: 'x' })).error?.code).toBe('approval_pending');
    await vi.advanceTimersByTimeAsync(5_000);
    await other.flush();
    expect(attempts).toBe(3);
  });

  test.each<[string, object]>([
    ['of another kind', { status: 200, body: { on() {} } }],
    [
      'that throws',
      {
        status: 204,
        body: {
          cancel() {
            throw new Error('locked');
          },
        },
      },
    ],
  ])('that was taken is not sent again if the body of the answer is one %s', async (_, answer) => {
    vi.useFakeTimers();
    const { registry, session, notifier } = setUp();
    notifier.close();
    const send = vi.fn(() => answer as never);
    const other = webhookNotifier({ url, secret, fetch: send });
    other.attach(registry);
    await session.call('pay', { to: 'x' });
    await vi.advanceTimersByTimeAsync(400_000);
    await other.flush();
    expect(send).toHaveBeenCalledTimes(1);
  });
});

test('messages are sent where the notifier was made, and not in the context of a call', async () => {
  vi.useFakeTimers();
  const tenant = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  const { notifier, session } = tenant.run('the notifier', () =>
    setUp([new Error('down'), 200, 200, 200], () => void seen.push(tenant.getStore())),
  );
  await Promise.all(
    ['acme', 'globex'].map((to) => tenant.run(to, () => session.call('pay', { to }))),
  );
  await vi.advanceTimersByTimeAsync(2_000);
  await notifier.flush();
  expect(seen).toEqual(['the notifier', 'the notifier', 'the notifier']);
  vi.useRealTimers();
});

describe('options', () => {
  test.each<[string, Record<string, unknown>, string]>([
    [
      'credentials that the global `fetch` refuses',
      { url: 'https://T0P:T0P@hooks.example.com/x' },
      'webhookNotifier: expected `url` to have neither user nor password, which the global ' +
        '`fetch` refuses. Give a `fetch` of your own that sends them in a header.',
    ],
    [
      'an address of another kind',
      { url: 'file:///etc/T0P' },
      'webhookNotifier: expected `url` to be an absolute address with https: or http:, got ' +
        'another text.',
    ],
    [
      'a relative address',
      { url: '/T0P' },
      'webhookNotifier: expected `url` to be an absolute address with https: or http:, got ' +
        'another text.',
    ],
    [
      'a secret without its prefix',
      { secret: 'T0P' },
      'webhookNotifier: expected `secret` to be `whsec_` and the base64 of 24 to 64 bytes, got ' +
        'another text. Make one by: echo "whsec_$(openssl rand -base64 32)"',
    ],
    [
      'a short secret',
      { secret: `whsec_${Buffer.alloc(23).toString('base64')}` },
      'webhookNotifier: expected `secret` to be `whsec_` and the base64 of 24 to 64 bytes, got ' +
        'another text. Make one by: echo "whsec_$(openssl rand -base64 32)"',
    ],
    [
      'a misspelt option',
      { secrets: 'x' },
      'webhookNotifier: unknown option `secrets`; did you mean `secret`?',
    ],
    [
      'no function',
      { fetch: 5 },
      'webhookNotifier: expected `fetch` to be a function, got `5` (number).',
    ],
  ])('%s is refused', (_, wrong, message) => {
    const options = Object.assign({ url, secret }, wrong) as WebhookNotifierOptions;
    expect(() => webhookNotifier(options)).toThrow(
      expect.objectContaining({ code: 'invalid_option', message }),
    );
  });

  test('anything but a registry is refused', () => {
    expect(() => webhookNotifier({ url, secret }).attach({} as never)).toThrow(/registry/i);
  });
});
