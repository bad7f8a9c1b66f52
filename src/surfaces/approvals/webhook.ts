/** Informs another system over HTTP that a call waits for a person, and how the wait ended. */

import type { HostToolRegistry } from '../../core.ts';
import { inspectRegistry } from '../../extend.ts';
import { MisuseError } from '../../values/errors/index.ts';
import {
  fn,
  type Kind,
  kind,
  readOptions,
  required,
  type TableOf,
} from '../../values/options/index.ts';
import { messageOfRequired, messageOfSettled, type WebhookMessage } from './webhook-message.ts';
import {
  createWebhookQueue,
  type WebhookFetch,
  type WebhookRequest,
  type WebhookResponse,
} from './webhook-queue.ts';

/** Options of {@link webhookNotifier}. */
export interface WebhookNotifierOptions {
  /** Where messages are sent: an `https:` or `http:` address. It is never logged. */
  readonly url: string;
  /**
   * The key that signs messages, as Standard Webhooks writes it: `whsec_` and the base64 of 24 to
   * 64 random bytes.
   */
  readonly secret: string;
  /**
   * Sends a message. Pass your own function to change its form for the receiver, or to use a proxy.
   * @default the global `fetch`
   */
  readonly fetch?: WebhookFetch | undefined;
}

/** Reports approvals by webhook. */
export interface WebhookNotifier {
  /**
   * Reports the approvals of this registry from now on. The returned function stops that.
   * @throws MisuseError `invalid_option` for anything but a registry, and once the notifier is
   * closed.
   */
  attach<S>(registry: HostToolRegistry<S>): () => void;
  /** Resolves once every message so far has been delivered or given up. Never rejects. */
  flush(): Promise<void>;
  /**
   * Ends all attachments and attempts. Messages that were not accepted yet are dropped, and
   * reported to the logger of their registry. Call `flush` first to send it. Idempotent.
   */
  close(): void;
}

const where = 'webhookNotifier';
const someText: Kind<string> = kind('a string', (value) => typeof value === 'string');
const table = {
  url: required(someText),
  secret: required(someText),
  fetch: fn<WebhookFetch>(),
} satisfies TableOf<WebhookNotifierOptions>;

/**
 * Sends a signed message when a call waits for a person (`approval.required`), and another when the
 * wait ends (`approval.settled`), by [Standard Webhooks](https://www.standardwebhooks.com).
 * Messages hold the same data as the events, without secrets and tokens. A message that is not
 * accepted is sent again after 1, 4, 16, 64 and 256 seconds, unless the answer is 410. No call
 * waits for a message or fails because of one. At most 1 000 messages, or 16 million characters,
 * wait. Messages beyond that, and those that are given up, are reported to the registry's logger.
 * @throws MisuseError `invalid_option`, which never contains the address or the secret.
 *
 * @example
 * ```ts
 * import { webhookNotifier } from 'host-tools/approvals';
 *
 * const notifier = webhookNotifier({
 *   url: 'https://chat.example.com/hooks/approvals',
 *   secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
 * });
 * const stop = notifier.attach(registry);
 * // when the process ends:
 * stop();
 * await notifier.flush();
 * notifier.close();
 * ```
 */
export function webhookNotifier(options: WebhookNotifierOptions): WebhookNotifier {
  const { url, secret, fetch: send = globalFetch } = readOptions(where, options, table);
  const queue = createWebhookQueue({
    url: readUrl(url, send === globalFetch),
    key: readSecret(secret),
    send,
  });
  const stops = new Set<() => void>();
  let closed = false;
  return Object.freeze<WebhookNotifier>({
    attach(registry) {
      const view = inspectRegistry(registry);
      if (closed)
        throw new MisuseError(
          'invalid_option',
          `${where}: the notifier is closed. Make another one.`,
        );
      const push = (message: WebhookMessage): void => queue.push(message, view);
      const listeners = [
        registry.events.on('approval:required', (event) => push(messageOfRequired(event))),
        registry.events.on('approval:settled', (event) => push(messageOfSettled(event))),
      ];
      const stop = (): void => {
        stops.delete(stop);
        for (const remove of listeners) remove();
      };
      stops.add(stop);
      return stop;
    },
    flush: () => queue.flush(),
    close() {
      closed = true;
      for (const stop of stops) stop();
      queue.close();
    },
  });
}

// Read when a message is sent, so that a host may replace it later.
function globalFetch(url: string, init: WebhookRequest): Promise<WebhookResponse> {
  return fetch(url, init);
}

/** The messages contain neither address nor secret, because both may be credentials. */
function readUrl(url: string, isGlobal: boolean): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  // The global `fetch` would refuse each message, and this would go unnoticed for minutes.
  if (isGlobal && parsed !== undefined && parsed.username + parsed.password !== '')
    throw new MisuseError(
      'invalid_option',
      `${where}: expected \`url\` to have neither user nor password, which the global \`fetch\` ` +
        'refuses. Give a `fetch` of your own that sends them in a header.',
    );
  if (parsed?.protocol === 'https:' || parsed?.protocol === 'http:') return parsed.href;
  throw new MisuseError(
    'invalid_option',
    `${where}: expected \`url\` to be an absolute address with https: or http:, got another text.`,
  );
}

function readSecret(secret: string): Buffer {
  const base64 = /^whsec_([A-Za-z0-9+/]{32,88}={0,2})$/.exec(secret)?.[1];
  const key = Buffer.from(base64 ?? '', 'base64');
  if (key.length >= 24 && key.length <= 64) return key;
  throw new MisuseError(
    'invalid_option',
    `${where}: expected \`secret\` to be \`whsec_\` and the base64 of 24 to 64 bytes, got ` +
      'another text. Make one by: echo "whsec_$(openssl rand -base64 32)"',
  );
}
