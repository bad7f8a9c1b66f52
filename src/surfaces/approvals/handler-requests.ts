/** Reads the requests to the approvals handler. Everything from outside is checked here. */
import type { PendingOptions } from '../../core.ts';
import { isJsonObject, type JsonObject } from '../../values/json/index.ts';
import { suggestion } from '../../values/options/index.ts';
import { excessOf } from '../../values/text/json-bounds.ts';

/** Most bytes of an answer in a request. Its `input` may be as large as that of a call. */
export const maxBytes = 2_097_152;
const bounds = { maxDepth: 64, maxValues: 50_000 } as const;
const maxOfMessage = 4_000;
const maxListed = 200;

/** The decision of a person, without the person. */
export interface SentAnswer {
  readonly decision: 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';
  readonly message?: string;
  readonly input?: JsonObject;
}

/** The value that was read, or what is wrong with it. */
export type Read<T> = { readonly value: T } | { readonly fault: string };

const decisions = ['allow_once', 'allow_always', 'reject_once', 'reject_always'];
const members = ['decision', 'message', 'input'];
const filters = ['limit', 'after', 'sessionId', 'principal'];

/** A misspelt `input` would run the original one, so every member must be known. */
export function readSent(body: string): Read<SentAnswer> {
  const sent = objectOf(body);
  if (sent === undefined) return { fault: 'Expected a JSON object.' };
  // The answer counts as given by the person who signed in. A `by` in the body is ignored.
  const unknown = Object.keys(sent).find((name) => name !== 'by' && !members.includes(name));
  if (unknown !== undefined)
    return { fault: `Unknown member \`${unknown.slice(0, 60)}\`${suggestion(unknown, members)}` };
  const { decision, message, input } = Object.assign(
    { decision: undefined, message: undefined, input: undefined },
    sent,
  ) as Record<string, unknown>;
  if (!decisions.includes(decision as string))
    return { fault: `Expected \`decision\` to be one of ${decisions.join(', ')}.` };
  if (message !== undefined && (typeof message !== 'string' || message.length > maxOfMessage))
    return { fault: `Expected \`message\` to be a text of at most ${maxOfMessage} characters.` };
  if (input !== undefined && !isJsonObject(input))
    return { fault: 'Expected `input` to be a JSON object.' };
  const read = { decision, ...(message === undefined || message === '' ? {} : { message }) };
  return { value: (input === undefined ? read : { ...read, input }) as SentAnswer };
}

/** Which approvals are requested. */
export function readQuery(query: URLSearchParams): Read<PendingOptions & { limit: number }> {
  const unknown = [...query.keys()].find((name) => !filters.includes(name));
  if (unknown !== undefined)
    return { fault: `Unknown filter \`${unknown.slice(0, 60)}\`${suggestion(unknown, filters)}` };
  const limit = query.get('limit') ?? '50';
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > maxListed)
    return { fault: `Expected \`limit\` to be a whole number from 1 to ${maxListed}.` };
  const given = query.get('after');
  const after = given === null ? undefined : /^(\d{1,15})\.(.{1,1024})$/s.exec(given);
  if (after === null) return { fault: 'Expected `after` to be the `next` of another answer.' };
  const sessionId = textIn(query, 'sessionId');
  const principal = textIn(query, 'principal');
  if (sessionId === null || principal === null)
    return { fault: 'Expected `sessionId` and `principal` to be texts of 1 to 1024 characters.' };
  return {
    value: {
      limit: Number(limit),
      after: after && { expiresAt: Number(after[1]), id: after[2] as string },
      sessionId,
      principal,
    },
  };
}

/** The `after` that continues after an approval. */
export function nextAfter({ id, expiresAt }: { id: string; expiresAt: number }): string {
  return `${Math.trunc(expiresAt)}.${id}`;
}

function textIn(query: URLSearchParams, name: string): string | undefined | null {
  const value = query.get(name);
  if (value === null) return undefined;
  return value.length >= 1 && value.length <= 1_024 ? value : null;
}

function objectOf(body: string): JsonObject | undefined {
  if (excessOf(body, bounds) !== undefined) return undefined;
  try {
    const value: unknown = JSON.parse(body);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Most characters of an id. */
const maxOfId = 512;

/** The id in a path, and whether its call is to be taken back. No id for any other path. */
export function idIn(path: string): { readonly id?: string; readonly isUndo: boolean } {
  const [, part, undo] = /^api\/approvals\/([^/]+)(\/undo)?$/.exec(path) ?? [];
  const isUndo = undo !== undefined;
  if (part === undefined) return { isUndo };
  try {
    const id = decodeURIComponent(part);
    return id.length <= maxOfId ? { id, isUndo } : { isUndo };
  } catch {
    return { isUndo };
  }
}
