/** Server-sent events out of bytes, as the HTML standard reads them, however the bytes are cut. */

/** One event. */
export interface SseEvent {
  /** Undefined for an event without one of its own. */
  readonly id: string | undefined;
  /** `message` where it has no name. */
  readonly event: string;
  readonly data: string;
}

/** Reads one stream. */
export interface SseParser {
  /**
   * Takes the next bytes. Throws once an event is over the bound; the stream is then of no more
   * use.
   */
  push(bytes: Uint8Array): void;
}

/** Where a parser puts what it finds. */
export interface SseReader {
  /** Each event, when its empty line has come. */
  event(event: SseEvent): void;
  /** Milliseconds before a reconnection, where the stream says so. */
  retry?(ms: number): void;
}

/** Most characters of one event. */
export const maxEventChars = 8 * 1_048_576;

export function createSseParser(reader: SseReader, maxChars = maxEventChars): SseParser {
  const decoder = new TextDecoder();
  // Of the event that is being read.
  let id: string | undefined;
  let name = '';
  let data: string[] = [];
  let chars = 0;
  /** The line that has not ended yet. */
  let line = '';
  /** The last character was a carriage return, whose line feed may still come. */
  let halfEnd = false;

  const dispatch = (): void => {
    const event: SseEvent = { id, event: name || 'message', data: data.join('\n') };
    const whole = data.length > 0;
    id = undefined;
    name = '';
    data = [];
    chars = 0;
    if (whole) reader.event(event);
  };
  const field = (key: string, value: string): void => {
    if (key === 'data') data.push(value);
    else if (key === 'event') name = value;
    else if (key === 'id' && !value.includes('\0')) id = value;
    else if (key === 'retry' && /^\d{1,9}$/.test(value)) reader.retry?.(Number(value));
    else return;
    chars += value.length + 1;
  };
  const take = (text: string): void => {
    if (text === '') return dispatch();
    const colon = text.indexOf(':');
    if (colon === 0) return;
    if (colon === -1) return field(text, '');
    field(text.slice(0, colon), text.slice(text[colon + 1] === ' ' ? colon + 2 : colon + 1));
  };
  const bounded = (): void => {
    if (chars + line.length > maxChars)
      throw new RangeError(`An event of the stream is over ${maxChars} characters.`);
  };

  return {
    push(bytes) {
      const text = decoder.decode(bytes, { stream: true });
      if (text === '') return;
      let from = halfEnd && text[0] === '\n' ? 1 : 0;
      halfEnd = text.endsWith('\r');
      for (const { index, 0: end } of text.matchAll(/\r\n|\r|\n/g)) {
        if (index < from) continue;
        line += text.slice(from, index);
        bounded();
        const whole = line;
        line = '';
        from = index + end.length;
        take(whole);
      }
      line += text.slice(from);
      bounded();
    },
  };
}
