/** What a generator reports while it runs, as the SDK's preliminary results. */
import type { JsonValue, ToolSession } from '../../index.ts';
import { stateOf } from '../../surface-port.ts';
import type { AiSdkPreliminary, AiSdkResult } from './tool.ts';

/**
 * Whether the tool's handler is a generator function. Known before the call, since the SDK wants to
 * know it at once.
 */
export function yields(session: ToolSession, name: string): boolean {
  const handler: unknown = stateOf(session).entryOf(name)?.internals.handler;
  return (
    typeof handler === 'function' &&
    /^\[object (?:Async)?GeneratorFunction\]$/.test(Object.prototype.toString.call(handler))
  );
}

/**
 * The call's result as a promise that can also be iterated: what the handler yields, then the
 * result. The SDK iterates; whoever awaits it gets the result alone. Values are what events show:
 * copies, with secrets hidden, of at most 64 KB each, and 1 000 a call.
 */
export function withPreliminary(
  session: ToolSession,
  callId: string,
  run: () => Promise<AiSdkResult>,
): Promise<AiSdkResult> {
  const waiting: AiSdkPreliminary[] = [];
  let wake = (): void => {};
  const heard = (yielded: JsonValue): void => {
    waiting.push({ preliminary: true, yielded });
    wake();
  };
  const offs = [
    session.events.on('tool:event', (event) => {
      if (event.callId === callId && event.name === 'yield' && event.data !== undefined)
        heard(event.data);
    }),
    session.events.on('tool:progress', (event) => {
      const { done, total, message } = event;
      if (event.callId === callId)
        heard({
          done,
          ...(total === undefined ? {} : { total }),
          ...(message === undefined ? {} : { message }),
        });
    }),
  ];
  let ended = false;
  const result = run().finally(() => {
    ended = true;
    for (const off of offs) off();
    wake();
  });
  // Whoever iterates learns of a failure at the end of the iteration.
  result.catch(() => {});
  async function* all(): AsyncGenerator<AiSdkPreliminary | AiSdkResult> {
    for (;;) {
      const next = waiting.shift();
      if (next !== undefined) yield next;
      else if (ended) return yield await result;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  }
  return Object.assign(result, { [Symbol.asyncIterator]: all });
}
