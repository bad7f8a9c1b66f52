/** The calls that can be taken back, as they are in a store. */

import type { Store } from '../../api/store.ts';
import { type BoundedStore, nameFor, type Use } from '../../stores/shared/use-store.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';

export const undoUse: Use = { what: 'calls that can be taken back', needs: ['get', 'set', 'list'] };

export const space = Object.freeze({ shared: 'undo' });

/** Whose call it is. */
export interface Caller {
  readonly sessionId: string;
  readonly principal: string | undefined;
}

/** A call that has succeeded, with all that its `revert` needs. */
export interface KeptCall {
  readonly tool: string;
  /** The fingerprint of the tool when the call ran. */
  readonly fingerprint: string;
  readonly callId: string;
  /** The call whose handler made it. */
  readonly parent: string | undefined;
  /** The sessions of that call and of this one. They differ if a handler has delegated. */
  readonly parentSession: string;
  readonly sessionId: string;
  /** The last question about it that a person answered. */
  readonly approval: string | undefined;
  /** The canonical input, with its secrets: the store must be protected accordingly. */
  readonly input: JsonObject;
  /** The input without its secrets. */
  readonly shown: JsonValue;
  readonly output: JsonValue;
  /** Epoch milliseconds of its end, and its place among the calls of its process. */
  readonly at: number;
  readonly seq: number;
  /** Only what is `kept` can be taken back. `begun` stays if the process dies meanwhile. */
  readonly state: 'kept' | 'begun' | 'reverted' | 'failed';
}

/** As it is found. */
export interface FoundCall {
  readonly kept: KeptCall;
  /** Whose it is: the session may be another one of the same principal. */
  readonly caller: Caller;
  readonly version: number;
  readonly remainingMs: number | undefined;
}

function keyOf({ sessionId, principal }: Caller, callId: string): string {
  return nameFor('call', JSON.stringify([principal ?? null, sessionId, callId]));
}

/** Names the session of a principal that made a call of this id last. */
function placeOf(principal: string, callId: string): string {
  return nameFor('place', JSON.stringify([principal, callId]));
}

function listOf({ sessionId, principal }: Caller, parent: string): string {
  return nameFor('in', JSON.stringify([principal ?? null, sessionId, parent]));
}

/** What a step writes for a call. */
export function writing(
  caller: Caller,
  kept: KeptCall,
  { version, ttlMs }: { readonly version?: number | undefined; readonly ttlMs: number | undefined },
): Store.Set {
  const { callId, parent, parentSession: sessionId } = kept;
  const { principal } = caller;
  return {
    op: 'set',
    key: keyOf(caller, callId),
    value: JSON.stringify(kept),
    lists: parent === undefined ? [] : [listOf({ principal, sessionId }, parent)],
    ...(version === undefined ? {} : { version }),
    ...(ttlMs === undefined ? {} : { ttlMs: Math.max(1, Math.ceil(ttlMs)) }),
  };
}

/** What a step writes so that other sessions of the principal find a call. */
export function placing(caller: Caller, callId: string, ttlMs: number): readonly Store.Set[] {
  const { principal, sessionId } = caller;
  if (principal === undefined) return [];
  return [{ op: 'set', key: placeOf(principal, callId), value: sessionId, ttlMs }];
}

/** Finds a call of the session, or of another one of its principal. */
export async function findCall(
  store: BoundedStore,
  caller: Caller,
  callId: string,
): Promise<FoundCall | undefined> {
  const own = await readCall(store, caller, callId);
  if (own !== undefined) return own;
  const other = await placeIn(store, caller, callId);
  return other === undefined ? undefined : readCall(store, other, callId);
}

/** The other session of the principal that made the call. */
export async function placeIn(
  store: BoundedStore,
  { principal, sessionId }: Caller,
  callId: string,
): Promise<Caller | undefined> {
  if (principal === undefined) return undefined;
  const place = await documentOf(store, placeOf(principal, callId));
  return place === undefined || place.value === sessionId
    ? undefined
    : { principal, sessionId: place.value };
}

export async function readCall(
  store: BoundedStore,
  caller: Caller,
  callId: string,
): Promise<FoundCall | undefined> {
  const found = await documentOf(store, keyOf(caller, callId));
  const kept = found && keptIn(found.value);
  if (found === undefined || kept?.callId !== callId) return undefined;
  const { version, remainingMs } = found;
  return { kept, caller, version, remainingMs };
}

export async function documentOf(
  store: BoundedStore,
  key: string,
): Promise<Store.Document | undefined> {
  const { results } = await store.apply(space, [{ op: 'get', keys: [key] }]);
  return results?.[0][0];
}

/** Most calls that one step reads, and most steps: a program makes no more calls than that. */
const [page, mostPages] = [1_000, 10] as const;

/** The calls that a call of this session has made and that can be taken back, newest first. */
export async function callsOf(
  store: BoundedStore,
  caller: Caller,
  parent: string,
): Promise<readonly FoundCall[]> {
  const list = listOf(caller, parent);
  const found: FoundCall[] = [];
  let after: { readonly expiresAt: number | null; readonly key: string } | undefined;
  for (let pages = 0; pages < mostPages; pages++) {
    const { results } = await store.apply(space, [
      { op: 'list', list, limit: page, ...(after === undefined ? {} : { after }) },
    ]);
    const documents = results?.[0] ?? [];
    for (const { value, version, remainingMs } of documents) {
      const kept = keptIn(value);
      if (kept === undefined) continue;
      const own = { principal: caller.principal, sessionId: kept.sessionId };
      found.push({ kept, caller: own, version, remainingMs });
    }
    const last = documents.at(-1);
    if (last === undefined || documents.length < page) break;
    after = { expiresAt: last.expiresAt, key: last.key };
  }
  return found.sort(({ kept: one }, { kept: other }) => other.at - one.at || other.seq - one.seq);
}

/** Undefined for anything that this part has not written. */
function keptIn(text: string): KeptCall | undefined {
  const value = parsed(text);
  if (!isJsonObject(value)) return undefined;
  const read = { __proto__: null, ...value } as Partial<Record<keyof KeptCall, JsonValue>>;
  const { tool, fingerprint, callId, parent, parentSession, sessionId, approval } = read;
  const { input, shown, output, at, seq, state } = read;
  if (
    typeof tool !== 'string' ||
    typeof fingerprint !== 'string' ||
    typeof callId !== 'string' ||
    !(parent === undefined || typeof parent === 'string') ||
    typeof parentSession !== 'string' ||
    typeof sessionId !== 'string' ||
    !(approval === undefined || typeof approval === 'string') ||
    !isJsonObject(input) ||
    typeof at !== 'number' ||
    typeof seq !== 'number' ||
    !isState(state)
  )
    return undefined;
  const told = { shown: shown ?? null, output: output ?? null };
  const from = { parent, parentSession, sessionId, approval };
  return { tool, fingerprint, callId, ...from, input, ...told, at, seq, state };
}

function isState(value: JsonValue | undefined): value is KeptCall['state'] {
  return value === 'kept' || value === 'begun' || value === 'reverted' || value === 'failed';
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
