/** Bounds what a child process sends before the SDK's transport parses it. */
import type {
  StdioClientTransport,
  StdioServerParameters,
} from '@modelcontextprotocol/client/stdio';
import type { JsonBounds } from '../../text/json-bounds.ts';
import { createMessageGuard, maxMessageBytes } from './message-guard.ts';

/**
 * Where the SDK's transport collects what arrives. If adding a chunk throws, the process is ended.
 */
interface Inside {
  readonly _readBuffer?: { append(chunk: Uint8Array): void };
}

/**
 * Counts each line that arrives at the transport, and at a second transport of the same class
 * that the SDK may make to learn the protocol era.
 * @param bounds the bounds of a line, asked as each one begins
 * @param exceeded called with the bound that a line exceeds
 * @throws Error if the transport is built differently from what this package knows, because it must
 * not be used without bounds
 */
export function boundStdio(
  transport: StdioClientTransport,
  bounds: () => JsonBounds,
  exceeded: (message: string) => void,
): void {
  const buffer = (transport as unknown as Inside)._readBuffer;
  if (typeof buffer?.append !== 'function')
    throw new Error(
      'What a child process sends cannot be limited with the installed version of ' +
        '`@modelcontextprotocol/client`. Install a version that this package supports.',
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
