/**
 * Approvals in Slack, against a Slack that is played here: its signatures, its refusals, clicks.
 */
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { slackApprovals } from '../../examples/slack-approvals.ts';
import { HostToolRegistry, type SessionOptions } from '../../src/index.ts';
import { define } from '../core/call/define.ts';
import { fencesOf, root } from '../docs/pages.ts';

const signingSecret = '8f742231b10e8888abcd99yyyzzz85a5';
const now = 1_700_000_000_000;

interface Message {
  readonly text: string;
  readonly blocks: readonly [
    { text: { text: string } },
    { elements: { action_id: string; value: string }[] }?,
  ];
}

/** A Slack that keeps what is posted, and clicks. */
function fakeSlack() {
  const messages: Message[] = [];
  const replies: { replace_original: boolean; text: string }[] = [];
  const answers: object[] = [];
  const fetch = async (url: string, { headers, body }: RequestInit): Promise<Response> => {
    const told = JSON.parse(body as string);
    if (url.startsWith('https://hooks.slack.com/')) {
      replies.push(told);
      return new Response('ok');
    }
    expect(url).toBe('https://slack.com/api/chat.postMessage');
    expect((headers as Record<string, string>).authorization).toBe('Bearer xoxb-1');
    const answer = answers.shift() ?? { ok: true };
    if ('ok' in answer && answer.ok) messages.push(told);
    return Response.json(answer);
  };
  /** The request of a click, as Slack signs it. */
  const click = (
    user: string,
    decision: string,
    {
      id = messages.at(-1)?.blocks[1]?.elements[0]?.value ?? '',
      at = now,
      secret = signingSecret,
      back = 'https://hooks.slack.com/actions/T0/1/x',
    } = {},
  ): Request => {
    const payload = {
      user: { id: user },
      actions: [{ action_id: decision, value: id }],
      response_url: back,
    };
    const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
    const timestamp = String(Math.floor(at / 1_000));
    const hmac = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex');
    return new Request('https://tools.example.com/slack/actions', {
      method: 'POST',
      headers: { 'x-slack-request-timestamp': timestamp, 'x-slack-signature': `v0=${hmac}` },
      body,
    });
  };
  return { fetch, click, messages, replies, answers };
}

function world(more: Partial<SessionOptions> = {}) {
  const slack = fakeSlack();
  const registry: HostToolRegistry = new HostToolRegistry({
    approvals: { secret: 'x'.repeat(32), fourEyes: true },
    logger: { warn: () => {}, error: () => {} },
  });
  const ran: unknown[] = [];
  registry.register(
    define('pay', {
      requiresApproval: true,
      handler: (input: unknown) => {
        ran.push(input);
        return 'paid';
      },
    }),
  );
  const app = slackApprovals(registry, {
    botToken: 'xoxb-1',
    signingSecret,
    channel: 'C1',
    reviewers: new Map([
      ['U1', 'bob'],
      ['U2', 'ann'],
    ]),
    inboxUrl: 'https://inbox.example.com/',
    fetch: slack.fetch,
    now: () => now,
  });
  onTestFinished(() => app.close());
  const session = registry.createSession({
    sessionId: 'shop-3',
    principal: 'ann',
    approvalMode: 'suspend',
    ...more,
  });
  /** Calls, and waits until Slack has the question. */
  const ask = async (input: Record<string, unknown>): Promise<void> => {
    await session.call('pay', input);
    await app.flush();
  };
  /** The status that Slack gets for a click, once it was dealt with. */
  const clicked = async (...given: Parameters<typeof slack.click>): Promise<number> => {
    const { status } = await app.fetch(slack.click(...given));
    await app.flush();
    return status;
  };
  return { ...slack, session, ask, clicked, ran, app };
}

describe('a question', () => {
  test("is posted with two buttons; a click answers it in the reviewer's name", async () => {
    const { ask, clicked, messages, replies, ran, session } = world();
    await ask({ to: 'acme' });
    const [section, actions] = messages[0]?.blocks ?? [];
    expect(section?.text.text).toBe('Allow `pay` to run?\n\nann in shop-3\n{\n  "to": "acme"\n}');
    expect(actions?.elements.map(({ action_id }) => action_id)).toEqual([
      'allow_once',
      'reject_once',
    ]);
    expect(await clicked('U1', 'allow_once')).toBe(200);
    expect(ran).toEqual([{ to: 'acme' }]);
    expect(replies).toMatchObject([
      { replace_original: true, text: 'allow_once by bob: succeeded' },
    ]);
    const id = actions?.elements[0]?.value ?? '';
    expect(await session.approvals.outcome(id)).toMatchObject({ status: 'settled', by: 'bob' });
  });

  test('can be rejected', async () => {
    const { ask, clicked, replies, ran } = world();
    await ask({ to: 'acme' });
    await clicked('U1', 'reject_once');
    expect([ran, replies[0]?.text]).toEqual([[], 'reject_once by bob: rejected']);
  });

  test('that waits on an approver is answered too', async () => {
    const { session, app, clicked, messages, ran } = world({
      approvalMode: 'ask',
      approver: () => new Promise(() => {}),
    });
    const call = session.call('pay', { to: 'acme' });
    await expect.poll(() => app.flush().then(() => messages.length)).toBe(1);
    await clicked('U1', 'allow_once');
    expect((await call).output).toBe('paid');
    expect(ran).toHaveLength(1);
  });

  test('shows characters that hide or reorder others', async () => {
    const { ask, messages } = world();
    await ask({ to: 'acme\u202Eemca\u200B' });
    expect(messages[0]?.blocks[0].text.text).toContain('acme\\u{202e}emca\\u{200b}');
  });

  test('of a program has the line that asks', async () => {
    const { session, app, messages } = world({ code: {} });
    const code = "// one\r// two\nawait tools.pay({ to: 'acme' }); // \u202e";
    await session.call('run_code', { code });
    await app.flush();
    expect(messages[0]?.blocks[0].text.text.split('\n').slice(-1)).toEqual([
      "In a program, at line 3: await tools.pay({ to: 'acme' }); // \\u{202e} " +
        'All of it: https://inbox.example.com/',
    ]);
    expect(messages[0]?.blocks).toHaveLength(2);
  });

  test('that is too long to be shown has no buttons', async () => {
    const { ask, messages } = world();
    await ask({ to: 'x'.repeat(5_000) });
    expect(messages[0]?.blocks).toHaveLength(1);
    expect(messages[0]?.blocks[0].text.text).toMatch(
      /…\nToo long for Slack: https:\/\/inbox\.example\.com\/$/,
    );
    expect(messages[0]?.blocks[0].text.text.length).toBeLessThanOrEqual(3_000);
  });
});

describe('a click answers nothing', () => {
  test.each([
    ['with a wrong signature', 'U1', { secret: 'another' }, 401],
    ['that is older than five minutes', 'U1', { at: now - 301_000 }, 401],
    ['of somebody who may not answer', 'U9', {}, 403],
    ['that is to be answered elsewhere', 'U1', { back: 'https://evil.test/' }, 403],
  ] as const)('%s', async (_, user, more, status) => {
    const { ask, clicked, ran, replies } = world();
    await ask({ to: 'acme' });
    expect(await clicked(user, 'allow_once', more)).toBe(status);
    expect([ran, replies]).toEqual([[], []]);
  });

  test('of the one who has asked: four eyes', async () => {
    const { ask, clicked, ran, replies } = world();
    await ask({ to: 'acme' });
    await clicked('U2', 'allow_once');
    expect(ran).toEqual([]);
    expect(replies).toMatchObject([
      { replace_original: false, text: expect.stringMatching(/^Not answered: /) },
    ]);
    await clicked('U1', 'allow_once');
    expect(ran).toHaveLength(1);
  });

  test('a second time, or for a question that never was', async () => {
    const { ask, clicked, ran, replies, messages } = world();
    await ask({ to: 'acme' });
    const id = messages[0]?.blocks[1]?.elements[0]?.value ?? '';
    await clicked('U1', 'allow_once');
    await clicked('U1', 'allow_once', { id });
    await clicked('U1', 'allow_once', { id: '../../api' });
    expect(ran).toHaveLength(1);
    expect(replies.slice(1)).toMatchObject([
      { replace_original: true, text: expect.stringMatching(/^Not answered: /) },
      { replace_original: true, text: expect.stringMatching(/^Not answered: /) },
    ]);
  });
});

test('the page has this code', () => {
  const page = readFileSync(join(root, 'docs/slack-approvals.md'), 'utf8');
  const code = readFileSync(join(root, 'examples/slack-approvals.ts'), 'utf8')
    .replace(/^\/\*\*[\s\S]*?\*\/\n/, '')
    .replace("'../src/index.ts'", "'host-tools'")
    .replace("'../src/surfaces/approvals/index.ts'", "'host-tools/approvals'")
    .trimEnd();
  expect(fencesOf(page).map((fence) => fence.code)).toContain(code);
});
