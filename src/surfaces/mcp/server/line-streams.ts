/** The two ends of a line transport: the parts of Node's streams that it uses. */

/** Where messages come from: the part of Node's `Readable` that is used. */
export interface LineInput {
  /** Adds a listener for `data`, `end`, `close` or `error`. */
  on(event: string, listener: (value?: unknown) => void): unknown;
  /** Removes a listener. */
  off(event: string, listener: (value?: unknown) => void): unknown;
  /** Stops reading. */
  pause?(): unknown;
  /** True if it ended before anyone listened. @default false */
  readonly readableEnded?: boolean | undefined;
  /** True if it was closed before anyone listened. @default false */
  readonly destroyed?: boolean | undefined;
}

/** Where messages go: the part of Node's `Writable` that is used. */
export interface LineOutput {
  /** Writes; `done` is called once the text was passed on, with the error if that failed. */
  write(text: string, done?: (error?: Error | null) => void): unknown;
}
