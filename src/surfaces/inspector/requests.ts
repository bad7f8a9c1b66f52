/** Reads the requests of a page. Everything from outside is checked here. */
import { isJsonObject, type JsonObject } from '../../json/index.ts';
import { excessOf } from '../../text/json-bounds.ts';
import type { AnswerRequest, CallRequest, Viewer } from '../pages/inspector-wire.ts';

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
  return {
    id,
    decision,
    by: by.trim(),
    ...(message === undefined || message === '' ? {} : { message }),
  };
}

/** Whose tools are requested; undefined if neither a session nor a profile is named. */
export function readViewer(query: URLSearchParams): Viewer | undefined {
  const session = query.get('session');
  const profile = query.get('profile');
  if (session !== null && /^\d{1,15}$/.test(session)) return { session: Number(session) };
  return profile === null ? undefined : { profile };
}
