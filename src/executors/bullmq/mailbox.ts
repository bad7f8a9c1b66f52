/**
 * Reads the mailbox of a host or a worker: a Redis stream. Only the reader trims it, so no entry is
 * lost before it was read.
 */
import type { IRedisClient } from 'bullmq';

/** An entry of a mailbox. */
export interface Letter {
  /** The id of the call. */
  readonly call: string;
  /** The claim of the worker that sends the letter or receives it. */
  readonly claim: string;
  readonly text: string;
}

export interface MailboxOptions {
  /**
   * Makes a connection for this mailbox alone, because a read blocks its connection. Called again
   * when that connection is lost.
   */
  connect(): IRedisClient;
  readonly key: string;
  /** Processes letters. The next read starts when this resolves. */
  take(letters: readonly Letter[]): Promise<void>;
}

export interface Mailbox {
  /** The id after that of the last entry that was read. */
  readonly next: string;
  /** Everything that was sent before this time has been processed; a time of `performance.now`. */
  readonly readUntil: number;
  close(): void;
}

/** Milliseconds that a read waits for entries. */
const blockMs = 5_000;
/** Milliseconds after which a waiting read has found the mailbox empty. */
const settledMs = 250;
/** Milliseconds after which an unanswered read means that its connection is lost. */
const stuckMs = 15_000;
/** How many entries are read at a time. After a read of many characters, it is `least`. */
const batch = { most: 64, least: 2, chars: 8 * 1024 * 1024 };

/**
 * Opens a mailbox and reads it until it is closed. Longer than 60 lines, since its short functions
 * share the connection and the position in the stream.
 */
export function openMailbox({ connect, key, take }: MailboxOptions): Mailbox {
  let client = connect();
  let last = '0-0';
  let closed = false;
  let waitsSince: number | undefined;
  let readUntil = Number.NEGATIVE_INFINITY;
  let count = batch.least;
  const ignore = (): void => {};
  client.on('error', ignore);
  const replace = (): void => {
    client.disconnect();
    if (closed) return;
    client = connect();
    client.on('error', ignore);
  };
  const read = async (): Promise<void> => {
    let stuck: NodeJS.Timeout | undefined;
    const given = new Promise<never>((_resolve, reject) => {
      stuck = setTimeout(() => reject(new Error('The mailbox could not be read.')), stuckMs);
    });
    const asked = performance.now();
    try {
      const reading = client.xread([{ key, id: last }], { BLOCK: blockMs, COUNT: count });
      const letters: Letter[] = [];
      let chars = 0;
      waitsSince = asked;
      const reply = await Promise.race([reading, given]);
      waitsSince = undefined;
      const entries = entriesOf(reply);
      const gotAll = entries.length < count;
      for (const [id, fields] of entries) {
        last = id;
        const letter = letterOf(fields);
        if (letter === undefined) continue;
        letters.push(letter);
        chars += letter.text.length;
      }
      count = chars > batch.chars ? batch.least : Math.min(batch.most, count * 2);
      if (letters.length > 0 && !closed) await take(letters);
      if (gotAll) readUntil = asked;
    } finally {
      waitsSince = undefined;
      clearTimeout(stuck);
    }
  };
  const loop = async (): Promise<void> => {
    while (!closed) {
      try {
        await read();
      } catch {
        if (closed) return;
        await new Promise((resolve) => setTimeout(resolve, 100));
        replace();
      }
    }
  };
  void loop();
  return {
    get next() {
      return after(last);
    },
    get readUntil() {
      const now = performance.now();
      return waitsSince !== undefined && now - waitsSince > settledMs ? now : readUntil;
    },
    close() {
      closed = true;
      client.disconnect();
    },
  };
}

type Entry = readonly [id: string, fields: readonly string[]];

/** The entries in the answer of `XREAD` about one stream. */
function entriesOf(reply: unknown): readonly Entry[] {
  if (!Array.isArray(reply)) return [];
  const [stream] = reply as readonly (readonly [string, readonly Entry[]])[];
  return stream?.[1] ?? [];
}

function letterOf(fields: readonly string[]): Letter | undefined {
  let call = '';
  let claim = '';
  let text = '';
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const value = fields[at + 1] ?? '';
    if (fields[at] === 'c') call = value;
    else if (fields[at] === 'w') claim = value;
    else if (fields[at] === 'm') text = value;
  }
  return call === '' || text === '' ? undefined : { call, claim, text };
}

function after(id: string): string {
  const [time = '0', number = '0'] = id.split('-');
  return `${time}-${Number(number) + 1}`;
}
