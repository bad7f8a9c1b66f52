/** Reads the requests of a page. Everything from outside is checked here. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { excessOf } from '../../values/text/json-bounds.ts';
import {
  type RuleRequest,
  type TestRequest,
  testExpectations,
} from '../pages/inspector-make-wire.ts';
import type { AnswerRequest } from '../pages/inspector-session-wire.ts';
import type { CallRequest, Viewer } from '../pages/inspector-wire.ts';

/** Most bytes of a request. */
export const maxBytes = 1_048_576;
const bounds = { maxDepth: 64, maxValues: 50_000 } as const;

/** A body as a JSON object; undefined for anything else. */
export function readObject(text: string): JsonObject | undefined {
  if (excessOf(text, bounds) !== undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function textIn(object: JsonObject, name: string, most: number): string | undefined {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return typeof value === 'string' && value.length <= most ? value : undefined;
}

/** Undefined if a member is missing or is not a text. */
export function readCall(body: JsonObject): CallRequest | undefined {
  const tool = textIn(body, 'tool', 512);
  const profile = textIn(body, 'profile', 256);
  const principal = textIn(body, 'principal', 256);
  if (tool === undefined || profile === undefined || principal === undefined) return undefined;
  return Object.hasOwn(body, 'input')
    ? { tool, profile, principal, input: body.input ?? null }
    : undefined;
}

/** Undefined for anything but one of the two decisions about one question. */
export function readAnswer(body: JsonObject): AnswerRequest | undefined {
  const id = textIn(body, 'id', 512);
  const decision = textIn(body, 'decision', 20);
  const by = textIn(body, 'by', 200);
  const message = textIn(body, 'message', 4_000);
  if (id === undefined || by === undefined || by.trim() === '') return undefined;
  if (decision !== 'allow_once' && decision !== 'reject_once') return undefined;
  const input = Object.hasOwn(body, 'input') ? body.input : undefined;
  if (input !== undefined && !isJsonObject(input)) return undefined;
  return {
    id,
    decision,
    by: by.trim(),
    ...(message === undefined || message === '' ? {} : { message }),
    ...(input === undefined ? {} : { input }),
  };
}

const effects = ['allow', 'ask', 'deny'] as const;
const fieldTests = ['equals', 'glob', 'gte', 'lte'] as const;
/** Most values that one rule tests, and most characters of a glob. */
const [maxTests, longestGlob] = [40, 1_000];

function oneOf<T>(known: readonly T[], value: unknown): T | undefined {
  return known.find((one) => one === value);
}

function numberIn(object: JsonObject, name: string): number | undefined {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Undefined for anything but a rule from one call. */
export function readRule(body: JsonObject): RuleRequest | undefined {
  const n = numberIn(body, 'n');
  const effect = oneOf(effects, textIn(body, 'effect', 5));
  const { principal, fields } = body;
  if (n === undefined || effect === undefined || typeof principal !== 'boolean') return undefined;
  if (!Array.isArray(fields) || fields.length > maxTests) return undefined;
  const read = (fields as readonly JsonValue[]).map(readField);
  return read.includes(undefined)
    ? undefined
    : { n, effect, principal, fields: read as RuleRequest['fields'] };
}

function readField(field: JsonValue): RuleRequest['fields'][number] | undefined {
  if (!isJsonObject(field)) return undefined;
  const at = numberIn(field, 'at');
  const test = oneOf(fieldTests, textIn(field, 'test', 6));
  const value = Object.hasOwn(field, 'value') ? field.value : undefined;
  if (at === undefined || test === undefined) return undefined;
  if (value === undefined) return { at, test };
  const fits = typeof value === 'string' ? value.length <= longestGlob : Number.isFinite(value);
  return fits ? { at, test, value: value as string | number } : undefined;
}

/** The number of a call; undefined for anything else. */
export function readNumber(body: JsonObject): number | undefined {
  return numberIn(body, 'n');
}

/** Undefined for anything but a policy test of one call. */
export function readTest(body: JsonObject): TestRequest | undefined {
  const n = numberIn(body, 'n');
  const expect = oneOf(testExpectations, textIn(body, 'expect', 20));
  return n === undefined || expect === undefined ? undefined : { n, expect };
}

/** Whose tools are requested; undefined if neither a session nor a profile is named. */
export function readViewer(query: URLSearchParams): Viewer | undefined {
  const session = query.get('session');
  const profile = query.get('profile');
  if (session !== null && /^\d{1,15}$/.test(session)) return { session: Number(session) };
  return profile === null ? undefined : { profile };
}
