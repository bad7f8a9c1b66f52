/** Reads server-sent events as the HTML standard does, however the bytes are split into chunks. */

/** One event. */
export interface SseEvent {
  /** Undefined if the event itself has no id. */
  readonly id: string | undefined;
  /** `message` if the event has no name. */
  readonly event: string;
  readonly data: string;
}

/** Reads one stream. */
export interface SseParser {
  /** Takes the next bytes. Throws once an event exceeds the bound; the parser is then unusable. */
  push(bytes: Uint8Array): void;
}

/** Receives what a parser finds. */
export interface SseReader {
  /** Called with each event, when the empty line after it has arrived. */
  event(event: SseEvent): void;
  /** Called with the milliseconds before a reconnection, if the stream names them. */
  retry?(ms: number): void;
}

/** Most characters of one event. */
export const maxEventChars = 8 * 1_048_576;

interface State {
  readonly reader: SseReader;
  readonly maxChars: number;
  /** The id of the current event. The next three belong to it too. */
  id: string | undefined;
  name: string;
  data: string[];
  chars: number;
  /** The line that has not ended yet. */
  line: string;
  /** The last character was a carriage return, whose line feed may still arrive. */
  halfEnd: boolean;
}

export function createSseParser(reader: SseReader, maxChars = maxEventChars): SseParser {
  const decoder = new TextDecoder();
  const state: State = {
    reader,
    maxChars,
    id: undefined,
    name: '',
    data: [],
    chars: 0,
    line: '',
    halfEnd: false,
  };
  return {
    push(bytes) {
      const text = decoder.decode(bytes, { stream: true });
      if (text !== '') takeText(state, text);
    },
  };
}

function takeText(state: State, text: string): void {
  let from = state.halfEnd && text[0] === '\n' ? 1 : 0;
  state.halfEnd = text.endsWith('\r');
  for (const { index, 0: end } of text.matchAll(/\r\n|\r|\n/g)) {
    if (index < from) continue;
    state.line += text.slice(from, index);
    checkLength(state);
    const whole = state.line;
    state.line = '';
    from = index + end.length;
    takeLine(state, whole);
  }
  state.line += text.slice(from);
  checkLength(state);
}

function checkLength({ chars, line, maxChars }: State): void {
  if (chars + line.length > maxChars)
    throw new RangeError(`An event of the stream has more than ${maxChars} characters.`);
}

function takeLine(state: State, line: string): void {
  if (line === '') return dispatch(state);
  const colon = line.indexOf(':');
  if (colon === 0) return;
  if (colon === -1) return takeField(state, line, '');
  takeField(
    state,
    line.slice(0, colon),
    line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1),
  );
}

function takeField(state: State, key: string, value: string): void {
  if (key === 'data') state.data.push(value);
  else if (key === 'event') state.name = value;
  else if (key === 'id' && !value.includes('\0')) state.id = value;
  else if (key === 'retry' && /^\d{1,9}$/.test(value)) state.reader.retry?.(Number(value));
  else return;
  state.chars += value.length + 1;
}

/** Ends the current event and passes it on if it has data. */
function dispatch(state: State): void {
  const { reader, id, name, data } = state;
  state.id = undefined;
  state.name = '';
  state.data = [];
  state.chars = 0;
  if (data.length > 0) reader.event({ id, event: name || 'message', data: data.join('\n') });
}
