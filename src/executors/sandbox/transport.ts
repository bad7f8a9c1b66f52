/** How a sandbox is started, reached and ended, whether it is a thread or a process. */

/** Why and how a sandbox ended. */
export interface Death {
  readonly reason:
    | 'sandbox_exited'
    | 'sandbox_crashed'
    | 'sandbox_out_of_memory'
    | 'sandbox_protocol'
    | 'sandbox_ended';
  /** Completes the sentence "The sandbox …". It is short, and may be shown to anyone. */
  readonly text: string;
  /** What it printed last, or threw. Only the host may see it. */
  readonly cause?: unknown;
}

/**
 * Milliseconds that a sandbox may run on after its channel has closed, and that its channel may
 * stay open after the sandbox has ended.
 */
export const lastWordsMs = 200;

/** The death of a sandbox that was killed because it had closed its channel and did not end. */
export const hungUp: Death = {
  reason: 'sandbox_protocol',
  text: 'closed its channel, and was ended',
};

/** The reports of a sandbox to its owner. */
export interface TransportEvents {
  /**
   * A message has arrived. It may be longer than the limit, because some channels do not give the
   * length in advance.
   */
  message(text: string): void;
  /**
   * The sandbox has ended, with everything that this kind of sandbox can end along with it. Called
   * once.
   */
  died(death: Death): void;
}

/** A running sandbox. */
export interface Transport {
  send(text: string): void;
  /** The number of bytes that were sent and not read by the sandbox yet, as far as it is known. */
  backlog(): number;
  /** Ends the sandbox at once, whatever it is doing. `died` is called afterwards. */
  kill(death: Death): void;
  /**
   * Says whether the sandbox has a call. A sandbox without a call does not keep the host's process
   * alive.
   */
  busy(isBusy: boolean): void;
}

/** Starts a sandbox that runs the given text as its program. Throws if it cannot. */
export type StartTransport = (runner: string, events: TransportEvents) => Transport;

/** Collects the last part of a stream. Returns the function that gives it. */
export function tailOf(stream: NodeJS.ReadableStream, maxBytes = 4_096): () => string {
  let tail = Buffer.alloc(0);
  stream.on('data', (piece: Buffer) => {
    const last = piece.length > maxBytes ? piece.subarray(-maxBytes) : piece;
    tail = Buffer.concat([tail, last]).subarray(-maxBytes);
  });
  return () => tail.toString('utf8').trim();
}
