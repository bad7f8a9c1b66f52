/** Sends messages until they are delivered or given up. It is bounded, and no call waits for it. */

import type { RegistryView } from '../../extend.ts';
import { currentScope, inScope } from '../../values/limits/async-scope.ts';
import { signatureOf, type WebhookMessage } from './webhook-message.ts';

/** How a message is sent. */
export interface WebhookRequest {
  readonly method: 'POST';
  /** `content-type`, `webhook-id`, `webhook-timestamp` and `webhook-signature`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON text that was signed: `{ type, timestamp, data }`. */
  readonly body: string;
  /** Redirects are not followed: only the receiver that you named gets the message. */
  readonly redirect: 'manual';
  /** Aborts after ten seconds, and when the notifier is closed. */
  readonly signal: AbortSignal;
}

/** The part of an answer that is used. */
export interface WebhookResponse {
  /** From 200 to 299 if the message was accepted. */
  readonly status: number;
  /** It is cancelled, not read. */
  readonly body?: { cancel(): Promise<void> } | null | undefined;
}

/** Sends one message. */
export type WebhookFetch = (
  url: string,
  init: WebhookRequest,
) => Promise<WebhookResponse> | WebhookResponse;

/** Milliseconds before each further attempt. */
const pausesMs = [1_000, 4_000, 16_000, 64_000, 256_000];
/** Milliseconds for one attempt. */
const attemptMs = 10_000;
const maxMessages = 1_000;
const maxChars = 16_000_000;
const maxAtOnce = 8;
const source = 'webhook';
const gone = 410;

/** A message that was neither accepted nor given up. */
interface Delivery {
  readonly message: WebhookMessage;
  /** The registry whose logger gets the faults. */
  readonly registry: RegistryView;
  /** Attempts that have failed. */
  failed: number;
  readonly onEnd: (() => void)[];
  pause?: ReturnType<typeof setTimeout>;
  attempt?: AbortController;
}

/** The messages of one notifier. */
export interface WebhookQueue {
  push(message: WebhookMessage, registry: RegistryView): void;
  flush(): Promise<void>;
  close(): void;
}

/**
 * The body of the answer is not used. Unread, it would keep the connection. The host's `fetch` may
 * give another kind of body; the message was accepted all the same.
 */
async function discard(response: WebhookResponse): Promise<void> {
  try {
    await response.body?.cancel();
  } catch {
    // There is nothing to release.
  }
}

interface Receiver {
  readonly url: string;
  readonly key: Buffer;
  readonly send: WebhookFetch;
}

/** Sends a message once. Resolves to the status of the answer. Rejects if there is none in time. */
async function sendOnce(
  { url, key, send }: Receiver,
  { message, registry }: Delivery,
  controller: AbortController,
): Promise<number> {
  const seconds = Math.floor(registry.now() / 1_000);
  const { signal } = controller;
  const headers = {
    'content-type': 'application/json',
    'webhook-id': message.id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatureOf(key, message, seconds),
  };
  const timer = setTimeout(
    () => controller.abort(new Error(`The webhook was not taken within ${attemptMs} ms.`)),
    attemptMs,
  );
  // The attempt ends here even if `fetch` ignores the signal.
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  try {
    const init = { method: 'POST', headers, body: message.body, redirect: 'manual', signal };
    // In a turn of its own, so that an error that `send` throws at once is a failed attempt too.
    const sent = Promise.resolve().then(() => send(url, init as WebhookRequest));
    const response = await Promise.race([sent, aborted]);
    const { status } = response;
    void discard(response);
    return status;
  } finally {
    clearTimeout(timer);
  }
}

/** Longer than 60 lines, since its short functions share the deliveries that wait. */
export function createWebhookQueue(receiver: Receiver): WebhookQueue {
  const { url } = receiver;
  const scope = currentScope();
  const waiting = new Set<Delivery>();
  const ready: Delivery[] = [];
  let chars = 0;
  let active = 0;
  let full = false;
  const { pathname, search } = new URL(url);
  const secretPath = pathname + search;
  const scrub = (text: string): string => {
    const without = text.replaceAll(url, '[the address]');
    return secretPath === '/' ? without : without.replaceAll(secretPath, '[the address]');
  };

  const end = (delivery: Delivery): void => {
    if (!waiting.delete(delivery)) return;
    chars -= delivery.message.body.length;
    full = false;
    for (const tell of delivery.onEnd) tell();
  };
  const retry = (delivery: Delivery, fault: unknown, final: boolean): void => {
    const { registry, message } = delivery;
    const pauseMs = pausesMs[delivery.failed++];
    if (final || pauseMs === undefined) {
      const where = { source, messageId: message.id, attempts: delivery.failed };
      registry.report(fault, where, 'gave up sending a webhook', scrub);
      return end(delivery);
    }
    delivery.pause = setTimeout(() => {
      ready.push(delivery);
      pump();
    }, pauseMs);
    // An unavailable receiver does not keep the process alive, unless `flush` waits for it.
    if (delivery.onEnd.length === 0) delivery.pause.unref();
  };
  const attempt = async (delivery: Delivery): Promise<void> => {
    delivery.attempt = new AbortController();
    try {
      const status = await sendOnce(receiver, delivery, delivery.attempt);
      if (!waiting.has(delivery)) return;
      if (status >= 200 && status < 300) return end(delivery);
      const fault = new Error(`The receiver of the webhook answered ${status}.`);
      retry(delivery, fault, status === gone);
    } catch (error) {
      if (waiting.has(delivery)) retry(delivery, error, false);
    } finally {
      active--;
      pump();
    }
  };
  const pump = (): void => {
    while (active < maxAtOnce) {
      const delivery = ready.shift();
      if (delivery === undefined) return;
      if (!waiting.has(delivery)) continue;
      active++;
      // It is sent in the context of the notifier, and not in that of the call which made room.
      void inScope(scope, () => attempt(delivery));
    }
  };

  return {
    push(message, registry) {
      if (waiting.size >= maxMessages || chars + message.body.length > maxChars) {
        // Logged once until there is room again, so that many messages do not cause many log
        // entries.
        if (!full) {
          const data = { source, waiting: waiting.size };
          registry.warn(data, 'too many webhooks wait; newer ones are dropped', 'error');
        }
        full = true;
        return;
      }
      const delivery: Delivery = { message, registry, failed: 0, onEnd: [] };
      waiting.add(delivery);
      chars += message.body.length;
      ready.push(delivery);
      pump();
    },
    async flush() {
      await Promise.all(
        [...waiting].map(
          (delivery) =>
            new Promise<void>((resolve) => {
              delivery.onEnd.push(resolve);
              delivery.pause?.ref();
            }),
        ),
      );
    },
    close() {
      const dropped = new Map<RegistryView, number>();
      for (const delivery of waiting) {
        dropped.set(delivery.registry, (dropped.get(delivery.registry) ?? 0) + 1);
        clearTimeout(delivery.pause);
        end(delivery);
        delivery.attempt?.abort(new Error('The notifier was closed.'));
      }
      for (const [registry, count] of dropped)
        registry.warn({ source, dropped: count }, 'webhooks were dropped: the notifier was closed');
    },
  };
}
