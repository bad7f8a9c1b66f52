/** What a generator handler yields, as the SDK's preliminary results. */
import type { JsonValue, ToolSession } from '../../core.ts';
import { inspectSession, inspectTool } from '../../extend.ts';
import { wellFormedJson } from '../../values/json/index.ts';
import type { AiSdkPreliminary, AiSdkResult } from './tool.ts';

/**
 * Whether the tool's handler is a generator function. The SDK decides by what `execute` returns, so
 * this must be known before the handler runs.
 */
export function yields(session: ToolSession, name: string): boolean {
  const tool = inspectSession(session).definition(name);
  return tool !== undefined && inspectTool(tool).yields;
}

/**
 * Returns the call's result as a promise that can also be iterated: it gives what the handler
 * yields, then the result. The SDK iterates; other callers await the result. The values are those
 * of the events: copies with secrets redacted, at most 64 KB each and 1 000 per call.
 */
export function withPreliminary(
  session: ToolSession,
  callId: string,
  run: () => Promise<AiSdkResult>,
): Promise<AiSdkResult> {
  const waiting: AiSdkPreliminary[] = [];
  let wake = (): void => {};
  const heard = (yielded: JsonValue): void => {
    waiting.push({ preliminary: true, yielded: wellFormedJson(yielded) });
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
  // An iterating caller gets the failure at the end of the iteration.
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
