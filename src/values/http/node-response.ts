/**
 * Writes web-standard answers to responses of `node:http` and of frameworks that are built on it.
 */

/** The part of Node's `ServerResponse` that is used. */
export interface NodeResponse {
  /** True once all data has been passed to the operating system. */
  readonly writableFinished: boolean;
  /** Starts the answer. */
  writeHead(status: number, headers: Record<string, string | string[]>): unknown;
  /** Sends the headers at once, before the first bytes of the body. @default they wait */
  flushHeaders?(): unknown;
  /** False when the caller should wait for `drain`. */
  write(chunk: Uint8Array): boolean;
  /** Ends the answer. */
  end(): unknown;
  /** Cuts the connection. */
  destroy(): unknown;
  /** Adds a listener for `close` or `drain`. */
  on(event: 'close' | 'drain', listener: () => void): unknown;
  /** Removes a listener. */
  off(event: 'close' | 'drain', listener: () => void): unknown;
}

type Outgoing = Pick<NodeResponse, 'writableFinished' | 'on' | 'off'> & {
  readonly destroyed?: boolean | undefined;
};

/** Aborts when the client goes away before the whole answer was sent. */
export function whenGone(outgoing: Outgoing): AbortController {
  const gone = new AbortController();
  const onClose = (): void => {
    outgoing.off('close', onClose);
    // `close` also follows a complete answer. An abort would then only create a needless error.
    if (!outgoing.writableFinished) gone.abort();
  };
  if (outgoing.destroyed === true) onClose();
  else outgoing.on('close', onClose);
  return gone;
}

/** Called while an answer waits for a client that does not read. */
export interface Backlog {
  /** Called when bytes wait for the client. */
  waits(): void;
  /** Called when they were sent, or when the answer has ended. */
  flows(): void;
}

/**
 * Writes a body and ends the answer. Takes no more of the body than the connection has room for,
 * and cancels it when the client goes away. Rejects when the body fails; the caller then cuts the
 * connection.
 */
export async function pipe(
  body: ReadableStream<Uint8Array>,
  outgoing: Outgoing & Pick<NodeResponse, 'write' | 'end'>,
  backlog?: Backlog,
): Promise<void> {
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  let isGone = false;
  let wake = (): void => {};
  const onDrain = (): void => wake();
  const onClose = (): void => {
    isGone = true;
    wake();
    reader.cancel().catch(() => {});
  };
  const over = reader.closed.catch(() => {});
  outgoing.on('drain', onDrain);
  outgoing.on('close', onClose);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (isGone || outgoing.destroyed === true) return;
      if (done) return void outgoing.end();
      if (outgoing.write(value)) continue;
      const drained = new Promise<void>((resolve) => {
        wake = resolve;
      });
      backlog?.waits();
      // A body that fails ends the wait, even though no `drain` follows.
      await Promise.race([drained, over]);
      backlog?.flows();
    }
  } finally {
    outgoing.off('drain', onDrain);
    outgoing.off('close', onClose);
  }
}
