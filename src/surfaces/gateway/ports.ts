/** What a gateway needs from its environment, so that tests can replace it. */
import type { JsonValue } from '../../values/json/index.ts';
import type { Environment } from '../../values/text/fill-variables.ts';
import type { ImportedMcpTools } from '../mcp/client/imported-tools.ts';

/** Time, randomness, files and the screen. */
export interface GatewayPorts {
  readonly env: Environment;
  /** Writes one line for people. Values of the environment are removed from it. */
  note(line: string): void;
  /** Removes values of the environment from a text. */
  scrub(text: string): string;
  /** The same for every text of a value. A value that is too large becomes one text. */
  scrubValue(value: JsonValue): JsonValue;
  /** Runs something after some milliseconds. The returned function cancels it. */
  later(run: () => void, ms: number): () => void;
  /** Waits some milliseconds. */
  pause(ms: number): Promise<void>;
  /** From 0 to below 1. */
  random(): number;
  /**
   * The accepted fingerprints of a file, by name. Undefined if the file has to be written first.
   * @throws Error if it cannot be read, or does not exist and must not be written
   */
  readPins(path: string): Promise<Readonly<Record<string, string>> | undefined>;
  /** Records texts that no error, event or log may show from now on. */
  keepSecret(value: string): void;
  /** The folder of logins. @throws Error if it is unknown */
  tokens(): string;
  /** Writes the accepted definitions to a new file. */
  writePins(path: string, imported: ImportedMcpTools): Promise<void>;
}
