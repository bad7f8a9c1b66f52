/** Web-standard answers on responses of `node:http` and what is built on it. */

/** What is used of Node's `ServerResponse`. */
export interface NodeResponse {
  /** True once the last of it was handed on. */
  readonly writableFinished: boolean;
  /** Starts the answer. */
  writeHead(status: number, headers: Record<string, string | string[]>): unknown;
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
    // It also closes after a whole answer. An abort would then only cost an error.
    if (!outgoing.writableFinished) gone.abort();
  };
  if (outgoing.destroyed === true) onClose();
  else outgoing.on('close', onClose);
  return gone;
}

/** Told while an answer waits for a client that does not read. */
export interface Backlog {
  /** Bytes wait for the client. */
  waits(): void;
  /** They were sent, or the answer has ended. */
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
      // A body that fails ends the wait, although nothing drains.
      await Promise.race([drained, over]);
      backlog?.flows();
    }
  } finally {
    outgoing.off('drain', onDrain);
    outgoing.off('close', onClose);
  }
}
