/** What an import of operations gives its host. */
import type { AnyTool } from '../../core.ts';
import type { PinDrift } from '../shared/pins.ts';
import type { OpenApiFailure } from './operations.ts';

/** A part of an operation that is not checked here, or that is left to the host. */
export interface OpenApiWarning {
  /** The id of the operation, or a glob that matches none; cleaned and shortened. */
  readonly name: string;
  /** JSON pointer into the definition, such as `/parameters/properties/guest/pattern`. */
  readonly path: string;
  /** Why it is not checked, or what the host has to give. */
  readonly message: string;
}

/** The result of `importOpenApi`. Its members follow the document when it is read again. */
export interface ImportedOpenApi {
  /** The source of the tools in rules, approvals and events: `openapi:` and the name of the API. */
  readonly source: string;
  /** The accepted definitions, in the order of the document. */
  readonly tools: readonly AnyTool<unknown>[];
  /** Accepted digests by name. Pass them as `pins` next time. */
  readonly pins: Readonly<Record<string, string>>;
  /** Tools that differ from what was accepted. None of them can be called. */
  readonly drift: readonly PinDrift[];
  /** Operations that cannot be imported, with the reasons. */
  readonly failed: readonly OpenApiFailure[];
  /** What is not checked here or left to the host. The operations are imported. */
  readonly warnings: readonly OpenApiWarning[];
  /** What the document has under a name now, for review; undefined if it has nothing. */
  found(name: string): AnyTool<unknown> | undefined;
  /**
   * Accepts a tool as the document has it now. If it is gone from the document, its pin is dropped.
   * @param found the digest that was reviewed, as `drift` has it; any other one is refused
   * @throws MisuseError `unknown_tool`, or `invalid_option` if the operation has changed again
   */
  accept(name: string, found?: string): void;
  /**
   * Reads the document again. Tools whose operations changed or are gone are withdrawn. Rejects as
   * `importOpenApi` does; then nothing changes.
   */
  refresh(): Promise<void>;
  /** Withdraws the tools, and ends their requests. Idempotent. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
