/** How a sandbox is started, reached and ended, whatever it is made of. */

/** How a sandbox came to its end. */
export interface Death {
  readonly reason:
    | 'sandbox_exited'
    | 'sandbox_crashed'
    | 'sandbox_out_of_memory'
    | 'sandbox_protocol'
    | 'sandbox_ended';
  /** Completes the sentence "The sandbox …". Bounded, and safe to show. */
  readonly text: string;
  /** What it wrote last, or threw. Only the host may see it. */
  readonly cause?: unknown;
}

/** How long a sandbox may take to end once its channel is closed, and the other way round. */
export const lastWordsMs = 200;

/** The death of a sandbox that closes its channel and does not end. */
export const hungUp: Death = {
  reason: 'sandbox_protocol',
  text: 'closed its channel, and was ended',
};

/** What the owner of a sandbox is told. */
export interface TransportEvents {
  /** A message came. It may be longer than the limit where the channel cannot tell before. */
  message(text: string): void;
  /** The sandbox is gone, and everything in it that this kind of sandbox contains. Called once. */
  died(death: Death): void;
}

/** A running sandbox. */
export interface Transport {
  send(text: string): void;
  /** How many bytes were sent that the sandbox has not read, as far as that is known. */
  backlog(): number;
  /** Ends it at once, whatever it does. `died` follows. */
  kill(death: Death): void;
  /** Whether it has a call. A sandbox without one does not keep the host's process alive. */
  busy(isBusy: boolean): void;
}

/** Starts a sandbox that runs the given text. Throws if it cannot. */
export type StartTransport = (runner: string, events: TransportEvents) => Transport;

/** Keeps the last part of what a stream gave. */
export function tailOf(stream: NodeJS.ReadableStream, maxBytes = 4_096): () => string {
  let tail = Buffer.alloc(0);
  stream.on('data', (piece: Buffer) => {
    const last = piece.length > maxBytes ? piece.subarray(-maxBytes) : piece;
    tail = Buffer.concat([tail, last]).subarray(-maxBytes);
  });
  return () => tail.toString('utf8').trim();
}
