/** Creates and changes the document of a session, by compare-and-set. */

import type { SessionOptions } from '../../../core.ts';
import { HostToolRegistry } from '../../../index.ts';
import type { RelaySessionOptions } from '../options.ts';
import { keys, type SessionDocument } from '../ports/documents.ts';
import { documentsOf, type KeptStore, writeDocument } from '../ports/kept-store.ts';
import { relayError } from '../relay-error.ts';
import { hashOf, newCode, newToken } from '../secrets.ts';
import type { RelaySettings } from '../settings.ts';

/**
 * Milliseconds that the store keeps an expired session, so that its clients learn that it has
 * expired.
 */
export const keptAfterwardsMs = 600_000;
const maxTries = 20;

/** A new session with its tokens, which are shown only once. */
export interface CreatedSession {
  readonly document: SessionDocument;
  readonly sessionToken: string;
  readonly agentToken: string;
}

/** Creates a session under a free code. @throws RelayError 503 `busy` */
export async function createSessionDocument({
  store,
  now,
  ttlMs,
}: RelaySettings): Promise<CreatedSession> {
  const [sessionToken, agentToken] = [newToken(), newToken()];
  const createdAt = Math.floor(now());
  const expiresAt = createdAt + ttlMs;
  for (let tries = 0; tries < maxTries; tries++) {
    const code = newCode();
    const tokens = { application: [hashOf(sessionToken)], agent: [hashOf(agentToken)] };
    const document: SessionDocument = {
      code,
      createdAt,
      expiresAt,
      tokens,
      paired: [],
      toolsRevision: 0,
    };
    const { results } = await store.apply({ session: code }, [
      { op: 'open', expiresAt: expiresAt + keptAfterwardsMs },
      { op: 'set', key: keys.session, value: JSON.stringify(document) },
    ]);
    if (results !== undefined) return { document, sessionToken, agentToken };
  }
  throw busy();
}

/**
 * Changes the document, and tries again if it has been changed in the meantime.
 * @param next returns the new document, or undefined to change nothing
 * @returns the document after the change; undefined for an unknown session
 * @throws RelayError 503 `busy`
 */
export async function changeSession(
  store: KeptStore,
  code: string,
  next: (document: SessionDocument) => SessionDocument | undefined,
): Promise<SessionDocument | undefined> {
  for (let tries = 0; tries < maxTries; tries++) {
    const [stored] = await documentsOf(store, code, [keys.session]);
    if (stored === undefined) return undefined;
    const before = JSON.parse(stored.value) as SessionDocument;
    const after = next(before);
    if (after === undefined) return before;
    const value = JSON.stringify(after);
    const version = await writeDocument(store, code, keys.session, value, stored.version);
    if (version !== undefined) return after;
  }
  throw busy();
}

/** Reads when a session ends, in epoch milliseconds; undefined for an unknown session. */
export async function endOfSession(store: KeptStore, code: string): Promise<number | undefined> {
  const [stored] = await documentsOf(store, code, [keys.session]);
  return stored === undefined ? undefined : (JSON.parse(stored.value) as SessionDocument).expiresAt;
}

/** Makes the relay error 503 for when other writers were faster each time. */
export function busy(): Error {
  return relayError(503, 'busy', 'Other requests keep changing this session. Try again.', {
    headers: { 'Retry-After': '1' },
  });
}

// Makes the host's part of every session, which is the registry and the options of each session.

/** Gets the host's registry, or makes one from its options. */
export function sessionRegistry(
  options: RelaySessionOptions,
  settings: RelaySettings,
): HostToolRegistry {
  return (options.registry as HostToolRegistry | undefined) ?? makeRegistry(options, settings);
}

function makeRegistry(
  { tools = [], rules, quotas, quotaStore, profiles = [], approvals }: RelaySessionOptions,
  { now, logger }: RelaySettings,
): HostToolRegistry {
  const registry = new HostToolRegistry({
    now,
    logger,
    ...(rules === undefined ? {} : { rules }),
    ...(quotas === undefined ? {} : { quotas }),
    ...(quotaStore === undefined ? {} : { quotaStore }),
    ...(approvals === undefined ? {} : { approvals }),
  });
  registry.registerAll(tools);
  for (const profile of profiles) registry.defineProfile(profile);
  return registry;
}

const governed = [
  'profile',
  'policies',
  'hooks',
  'services',
  'facts',
  'discovery',
  'code',
  'limits',
  'approver',
  'approvalMode',
  'approvalTimeoutMs',
] as const;

/** Makes the options of the governed session behind a relay session. */
export function governedSessionOptions(options: RelaySessionOptions, code: string): SessionOptions {
  const { exposeErrors = 'masked' } = options;
  const given = governed.flatMap((name) =>
    options[name] === undefined ? [] : [[name, options[name]] as const],
  );
  return {
    ...Object.fromEntries(given),
    exposeErrors,
    sessionId: code,
    principal: `relay:${code}`,
  };
}
