/**
 * Approvals in a Slack channel: a webhook posts each question with two buttons, and a click is
 * answered by the approvals handler in the name of the person who clicked.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { HostToolRegistry } from '../src/index.ts';
import { createApprovalsHandler, webhookNotifier } from '../src/surfaces/approvals/index.ts';

export interface SlackOptions {
  /** The app's bot token, `xoxb-…`, with the scope `chat:write`. */
  readonly botToken: string;
  /** The app's signing secret. */
  readonly signingSecret: string;
  /** The channel's id. */
  readonly channel: string;
  /** Who may answer: the id of a Slack user, and who that is here. */
  readonly reviewers: ReadonlyMap<string, string>;
  /** Where people answer what does not fit into a message. */
  readonly inboxUrl: string;
  /** @default the global one */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

/** Slack refuses longer texts. */
const maxChars = 2_900;

/** `fetch` answers Slack at the app's request URL for interactivity. */
export function slackApprovals(
  registry: HostToolRegistry,
  { botToken, signingSecret, channel, reviewers, inboxUrl, ...rest }: SlackOptions,
) {
  const { fetch: send = fetch, now = Date.now } = rest;

  const notifier = webhookNotifier({
    url: 'https://slack.com/api/chat.postMessage',
    secret: `whsec_${randomBytes(32).toString('base64')}`, // Slack does not look at it
    async fetch(url, { method, redirect, signal, body }) {
      const { type, data } = JSON.parse(body);
      if (type !== 'approval.required') return { status: 204 };
      const message = JSON.stringify({ channel, ...question(data.request, inboxUrl) });
      const headers = {
        'content-type': 'application/json; charset=utf-8',
        authorization: `Bearer ${botToken}`,
      };
      const response = await send(url, { method, redirect, signal, headers, body: message });
      if (!response.ok) return { status: response.status };
      // Slack says 200 also when it has posted nothing. 500 makes the notifier try again.
      const { ok } = (await response.json()) as { ok: boolean };
      return { status: ok ? 200 : 500 };
    },
  });
  const stop = notifier.attach(registry);

  // Only `click` makes requests for this handler, so nobody else is anyone to it.
  const clicks = new WeakMap<Request, string>();
  const inbox = createApprovalsHandler(registry, { authenticate: (click) => clicks.get(click) });

  const answering = new Set<Promise<void>>();
  const click = async (who: string, { action_id: decision, value: id }: Action, back: string) => {
    const request = new Request(`http://localhost/api/approvals/${encodeURIComponent(id)}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ decision }),
    });
    clicks.set(request, who);
    const answer = await inbox.fetch(request);
    const { status, error } = (await answer.json()) as { status?: string; error?: string };
    // Shown to the one who clicked. A question that is over is replaced for everyone.
    const over = answer.ok || answer.status === 409 || answer.status === 404;
    const text = answer.ok ? `${decision} by ${who}: ${status}` : `Not answered: ${error}`;
    await send(back, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ replace_original: over, response_type: 'ephemeral', text }),
    });
  };

  return {
    async fetch(request: Request): Promise<Response> {
      const body = await request.text(); // unparsed: the signature covers these bytes
      if (!isGenuine(request.headers, body, signingSecret, now()))
        return new Response(null, { status: 401 });
      const { user, actions, response_url } = JSON.parse(
        new URLSearchParams(body).get('payload') ?? '{}',
      ) as { user: { id: string }; actions: Action[]; response_url: string };
      const [action] = actions;
      const who = reviewers.get(user.id);
      if (who === undefined || action === undefined || !response_url.startsWith(slackHooks))
        return new Response(null, { status: 403 });
      // Not waited for: Slack wants an answer within three seconds, and a call may take longer.
      const answered = click(who, action, response_url)
        .catch((error) => console.error('A click was not answered.', error))
        .finally(() => answering.delete(answered));
      answering.add(answered);
      return new Response(null, { status: 200 });
    },
    /** Waits until everything is posted and answered. */
    async flush(): Promise<void> {
      await notifier.flush();
      await Promise.all(answering);
    },
    close(): void {
      stop();
      notifier.close();
    },
  };
}

const slackHooks = 'https://hooks.slack.com/';

interface Action {
  readonly action_id: string;
  readonly value: string;
}

/** Whether Slack has sent this, within the last five minutes. */
function isGenuine(headers: Headers, body: string, signingSecret: string, now: number): boolean {
  const timestamp = headers.get('x-slack-request-timestamp') ?? '';
  const hmac = createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`);
  const expected = Buffer.from(`v0=${hmac.digest('hex')}`);
  const given = Buffer.from(headers.get('x-slack-signature') ?? '');
  const fresh = Math.abs(now / 1_000 - Number(timestamp)) <= 300;
  return fresh && given.length === expected.length && timingSafeEqual(given, expected);
}

interface Question {
  readonly id: string;
  readonly title: string;
  readonly message?: string;
  readonly principal: string;
  readonly sessionId: string;
  readonly input?: unknown;
  /** In code mode: the program that makes the call. */
  readonly program?: { readonly source?: string; readonly line: number };
}

/** The message. Nobody decides about what they cannot see, so a long question has no buttons. */
function question(request: Question, inboxUrl: string): object {
  const { id, title, message = '', principal, sessionId, input, program } = request;
  const shown = visible(
    `${title}\n${message}\n${principal} in ${sessionId}\n${JSON.stringify(input, undefined, 2)}` +
      (program === undefined ? '' : `\n${placeOf(program)} All of it: ${inboxUrl}`),
  );
  const fits = input !== undefined && shown.length <= maxChars;
  const text = fits ? shown : `${shown.slice(0, maxChars)}…\nToo long for Slack: ${inboxUrl}`;
  const button = (label: string, decision: string) => ({
    type: 'button',
    action_id: decision,
    value: id,
    text: { type: 'plain_text', text: label },
  });
  return {
    text: visible(title).slice(0, 200), // for notifications
    blocks: [
      { type: 'section', text: { type: 'plain_text', text } },
      ...(fits
        ? [
            {
              type: 'actions',
              elements: [button('Allow once', 'allow_once'), button('Reject', 'reject_once')],
            },
          ]
        : []),
    ],
  };
}

/** The line of a program that makes a call. Lines end as they do in a program. */
function placeOf({ source, line }: NonNullable<Question['program']>): string {
  const text = source
    ?.split(/\r\n|[\n\r]/)
    [line - 1]?.trim()
    .slice(0, 200);
  return text === undefined ? 'In a program.' : `In a program, at line ${line}: ${text}`;
}

/** Characters that hide or reorder others are written out, so that people read what will run. */
function visible(text: string): string {
  return text.replace(
    /(?!\n)[\p{Cc}\p{Cf}]/gu,
    (hidden) => `\\u{${hidden.codePointAt(0)?.toString(16)}}`,
  );
}
