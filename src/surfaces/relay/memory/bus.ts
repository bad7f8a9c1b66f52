/** The bus within one process. */
import { createMessages } from '../../../stores/memory/messages.ts';
import type { RelayBus } from '../ports/bus.ts';

/**
 * Carries wake-ups within this process. A message arrives in a microtask. By then the sender's
 * synchronous work is done, so a listener never interrupts it, and all listeners see the same order
 * even if one of them sends. No input or timer comes in between, so a message costs almost no time.
 *
 * @example
 * ```ts
 * import { createRelay, memoryBus, memoryStore } from 'host-tools/relay';
 *
 * // Two nodes in one process, for a test.
 * const [store, bus] = [memoryStore(), memoryBus()];
 * const nodes = [createRelay({ store, bus }), createRelay({ store, bus })];
 * ```
 */
export function memoryBus(): RelayBus {
  const messages = createMessages();
  return {
    // In one process, a message with a document costs more than reading the document.
    maxMessageChars: 0,
    async publish(channel, message) {
      messages.publish(channel, message);
    },
    async subscribe(channel, listener) {
      return messages.listen(channel, listener);
    },
  };
}
