/** Bounds what a child process says before the SDK's transport parses it. */
import type {
  StdioClientTransport,
  StdioServerParameters,
} from '@modelcontextprotocol/client/stdio';
import type { JsonBounds } from '../../text/json-bounds.ts';
import { createMessageGuard, maxMessageBytes } from './message-guard.ts';

/**
 * Where the SDK's transport collects what arrives. A chunk that it cannot take ends the process.
 */
interface Inside {
  readonly _readBuffer?: { append(chunk: Uint8Array): void };
}

/**
 * Counts each line that arrives at the transport, and at the one that the SDK makes of the same
 * class to learn the era.
 * @param bounds what a line may hold, asked as each begins
 * @param exceeded hears which bound a line was over
 * @throws Error where the transport is not made as this package knows it: it is not used without
 * bounds
 */
export function boundStdio(
  transport: StdioClientTransport,
  bounds: () => JsonBounds,
  exceeded: (message: string) => void,
): void {
  const buffer = (transport as unknown as Inside)._readBuffer;
  if (typeof buffer?.append !== 'function')
    throw new Error(
      'This version of `@modelcontextprotocol/client` is not known: what a child process ' +
        'sends cannot be bounded.',
    );
  const append = buffer.append.bind(buffer);
  const guard = createMessageGuard('line', maxMessageBytes, bounds);
  buffer.append = (chunk) => {
    try {
      guard.take(chunk);
    } catch (error) {
      exceeded((error as Error).message);
      throw error;
    }
    append(chunk);
  };
  const Transport = transport.constructor as new (
    parameters: StdioServerParameters,
  ) => StdioClientTransport;
  function Bounded(parameters: StdioServerParameters): StdioClientTransport {
    const sibling = new Transport(parameters);
    boundStdio(sibling, bounds, exceeded);
    return sibling;
  }
  Object.defineProperty(transport, 'constructor', { value: Bounded });
}
