/** The built-in tool that reads outputs that were kept as a whole. */
import type { ToolContext } from '../../api/context.ts';
import type { Fail } from '../../api/result.ts';
import type { AnyTool } from '../../api/tool.ts';
import type { FoundCall } from '../../core/call/call.ts';
import { callOf } from '../../core/call/handler-context.ts';
import { inputFault } from '../../core/call/invalid-input.ts';
import type { TextRange } from '../../core/call/ports.ts';
import { reportFault } from '../../core/call/report-fault.ts';
import { answerInTime, tooLate } from '../../core/call/with-deadline.ts';
import { fail } from '../../core/result.ts';
import { createDefinition } from '../../core/tool/define-tool.ts';
import { messageOf } from '../../values/errors/index.ts';
import { isJsonObject, type JsonValue } from '../../values/json/index.ts';
import { withEngine } from '../../values/json-schema/engine.ts';
import { isNativePattern } from '../../values/json-schema/pattern-budget.ts';
import { nextTurn } from '../../values/limits/stretches.ts';
import { between, head } from '../../values/text/characters.ts';
import { compilePattern } from '../../values/text/regex.ts';
import { placeOf } from './offload.ts';
import { outputIn } from './offload-in.ts';
import { type Offload, type OffloadedAbout, readerName } from './offload-options.ts';

/** Most characters that one call reads. */
const maxRead = 8_000;
/** Room for the line that says which part was read. */
const noteChars = 120;

interface Asked {
  readonly handle: string;
  readonly start?: number;
  readonly end?: number;
  readonly pattern?: string;
}

const position = { type: 'integer', minimum: 0, maximum: 2 ** 31 } as const;

/** Makes the tool. It is governed like any other. */
export function outputReader(offload: Offload): AnyTool {
  return createDefinition({
    name: readerName,
    title: 'Read a tool output',
    description:
      'Reads an output that was cut, by the handle that the cut output names. Without a pattern, ' +
      `it returns up to ${maxRead} characters from \`start\`. With a pattern, it returns the ` +
      'lines that match, with their positions.',
    parameters: withEngine({
      type: 'object',
      properties: {
        handle: { type: 'string', minLength: 1, maxLength: 100 },
        start: { ...position, description: 'The first character to read. Default: 0' },
        end: { ...position, description: 'Where to stop, above start. Default: the end' },
        pattern: {
          type: 'string',
          minLength: 1,
          maxLength: 512,
          description: 'A regular expression without lookaround and backreferences',
        },
      },
      required: ['handle'],
      additionalProperties: false,
    }),
    annotations: { readOnly: true, idempotent: true },
    handler: (input: unknown, context: ToolContext) =>
      read(callOf(context), offload, input as Asked),
  });
}

async function read(call: FoundCall, offload: Offload, asked: Asked): Promise<string | Fail> {
  if (asked.end !== undefined && asked.end <= (asked.start ?? 0))
    throw inputFault(call, {
      path: 'end',
      message: 'expected a number above `start`; leave it out to read as far as one call can',
    });
  const { session, key } = placeOf(call.session, asked.handle);
  const { policyTimeoutMs } = call.session.registry.settings;
  let kept: Kept | undefined;
  try {
    const answer = Promise.resolve(outputIn(offload.store, session, key));
    const settled = await answerInTime(call, answer, policyTimeoutMs);
    if (settled === tooLate)
      throw new Error(`The store did not answer within ${policyTimeoutMs / 1_000} s.`);
    kept = readKept(settled);
  } catch (error) {
    if (!call.ended) reportFault(call, error, 'offloadStore', 'an output could not be read');
    return fail({
      message: 'The output cannot be read at the moment. Try again later.',
      reason: 'offload_unavailable',
      retryable: true,
    });
  }
  if (kept === undefined)
    return fail({
      message:
        'No output has this handle. It may have expired, or made room for later ones. Call the ' +
        'tool again that returned it.',
      reason: 'unknown_handle',
    });
  return readPart(call, kept, asked);
}

async function readPart(
  call: FoundCall,
  { text, tool, secret, about }: Kept,
  asked: Asked,
): Promise<string | Fail> {
  const { masking, provenance } = call.session.registry.ports.calls;
  // Told before anything is returned, because events and what is remembered depend on it.
  const shows = provenance?.readBack(call, tool, about);
  if (secret) masking?.hideOutput(call);
  const start = between(text, Math.min(asked.start ?? 0, text.length));
  const end = Math.max(start, endOf(text, Math.min(asked.end ?? text.length, text.length)));
  // One character may be two code units long.
  const room = Math.max(2, Math.min(maxRead, call.binding.maxOutputChars - noteChars));
  if (asked.pattern === undefined) {
    const part = end - start > room ? head(text.slice(start, end), room) : text.slice(start, end);
    const stop = start + part.length;
    shows?.(text, [{ start, end: stop }]);
    const next = stop < text.length ? `; read on with start ${stop}` : '';
    return `${part}\n[characters ${start} to ${stop} of ${text.length}${next}]`;
  }
  try {
    const search = { pattern: asked.pattern, start, end, room };
    const { answer, ranges } = await searchText(text, search, () => call.ended);
    shows?.(text, ranges);
    return answer;
  } catch (error) {
    return fail({ message: messageOf(error), reason: 'invalid_pattern' });
  }
}

/**
 * If `start` is the first half of a character, the whole character is read, so that reading always
 * makes progress.
 */
function endOf(text: string, end: number): number {
  return between(text, end) === end ? end : end + 1;
}

interface Kept extends OffloadedAbout {
  readonly text: string;
  /** All that was kept beside it. */
  readonly about: Readonly<Record<string, unknown>>;
}

/** A store may answer anything, and a wrong answer must not make text trusted. */
function readKept(answer: unknown): Kept | undefined {
  if (answer === undefined || answer === null) return undefined;
  const { text, about } = own(answer as object);
  if (typeof text !== 'string' || typeof about !== 'string')
    throw new TypeError('Expected the store to answer { text, about } or undefined.');
  const told = JSON.parse(about) as JsonValue;
  if (!isJsonObject(told)) throw new TypeError('Expected the store to return what it was given.');
  const all = own(told);
  return {
    text,
    tool: typeof all.tool === 'string' ? all.tool : '',
    secret: all.secret !== false,
    about: all,
  };
}

/** Own members alone, so that none comes from `Object.prototype`. */
function own(object: object): Record<string, unknown> {
  return Object.assign(Object.create(null) as Record<string, unknown>, object);
}

// Finds the lines of a long text that match a pattern, in linear time, with pauses for other work.

/** Most lines in an answer. */
const maxLines = 50;
/**
 * Characters of a window. A longer line is searched in several windows. Each begins with the last
 * characters of the one before it, so that a match of up to this length is never missed.
 */
const windowChars = 500;
const overlapChars = 100;
/** Most instructions of a pattern. */
const patternSize = 2_000;
/** Instructions that run before other work gets a turn. They take a few milliseconds. */
const turnSteps = 2_000_000;
/** The cost of a line in addition to its characters, in instructions. */
const lineSteps = 2_000;
/** Most instructions of one search. After that, the answer says where to continue. */
const maxSteps = 200_000_000;

export interface Search {
  readonly pattern: string;
  readonly start: number;
  readonly end: number;
  /** Most characters of the answer. */
  readonly room: number;
}

/** What a search has found. */
export interface Found {
  /** The lines that match, each after its position. */
  readonly answer: string;
  /** Where they are in the text. */
  readonly ranges: readonly TextRange[];
}

/**
 * @param isOver Asked between turns.
 * @throws MisuseError for a pattern that cannot run in linear time, or is too complex.
 */
async function searchText(
  text: string,
  { pattern, start, end, room }: Search,
  isOver: () => boolean,
): Promise<Found> {
  isNativePattern(pattern, {
    trusted: false,
    limits: { patterns: 1, patternSize },
    native: new Map(),
    size: 0,
  });
  const { matcher, size } = compilePattern(pattern, { trusted: false });
  const found: string[] = [];
  const ranges: TextRange[] = [];
  let [chars, steps, turn, at] = [0, 0, 0, start];
  while (at < end && found.length < maxLines && steps < maxSteps) {
    const lineEnd = endOfLine(text, at, end);
    const stop = between(text, Math.min(lineEnd, at + windowChars));
    const line = text.slice(at, stop);
    if (matcher.test(line)) {
      const shown = `[${at}] ${line}`;
      if (chars + shown.length > room && found.length > 0) break;
      const kept = head(shown, room);
      found.push(kept);
      ranges.push({ start: at, end: stop - shown.length + kept.length });
      chars += shown.length + 1;
    }
    const cost = line.length * size + lineSteps;
    steps += cost;
    turn += cost;
    at = stop < lineEnd ? between(text, stop - overlapChars) : stop + 1;
    if (turn < turnSteps) continue;
    turn = 0;
    await nextTurn();
    if (isOver()) break;
  }
  const searched = Math.min(at, end);
  const rest = searched < end ? `; search on with start ${searched}` : '';
  found.push(
    `[${ranges.length} matching, characters ${start} to ${searched} of ${text.length}${rest}]`,
  );
  return { answer: found.join('\n'), ranges };
}

/** Looks no further than a window, because a text may be one line of millions of characters. */
function endOfLine(text: string, from: number, end: number): number {
  const most = Math.min(end, from + windowChars + 1);
  for (let at = from; at < most; at++) if (text.charCodeAt(at) === 0x0a) return at;
  return most;
}
