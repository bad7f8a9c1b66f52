/** The routes of an application's tools: registration, updates and metadata. */

import { busy, changeSession } from '../calls/session-document.ts';
import {
  everything,
  isEmptyChange,
  registrationReason,
  toToolsRecord,
} from '../events/tool-updates.ts';
import type { Hub } from '../hub.ts';
import {
  keys,
  type LogRecord,
  logKeep,
  type SessionDocument,
  type Side,
  type ToolsDocument,
} from '../ports/documents.ts';
import { documentsOf, type KeptStore } from '../ports/kept-store.ts';
import { sessionNotFound } from '../relay-error.ts';
import type { RelaySettings } from '../settings.ts';
import {
  type Registered,
  type RegistrationOptions,
  registerTools,
  updateTools,
} from '../tools/registration.ts';
import { readRegistration, readUpdate } from '../tools/registration-body.ts';
import { readTools, writeTools } from '../tools/tools-document.ts';
import { readObject } from './bodies.ts';
import { fillMetadata, isNamed, negotiateVersion, type PassingMetadata } from './metadata.ts';
import { createMetadataCache, type MetadataCache } from './metadata-cache.ts';
import type { NodeParts, SessionExchange, SessionHandlers } from './node-parts.ts';
import { type Answered, answer } from './responses.ts';

/** Makes the handlers of these routes. */
export function toolRoutes(
  parts: NodeParts,
): Pick<SessionHandlers, 'register-tools' | 'update-tools' | 'metadata'> {
  const { settings, limits, hub, live } = parts;
  const changing: ToolChanging = { settings, hub, taken: live.taken };
  const cache = createMetadataCache(live);
  return {
    async 'register-tools'({ request, bounds, document }) {
      const registration = readRegistration(await readObject(request, bounds));
      await limits.take('update', document.code);
      const registered = await changeTools(
        changing,
        document,
        registrationReason,
        (before, options) => registerTools(before, registration, options),
      );
      return answer(201, registered);
    },
    async 'update-tools'({ request, bounds, document }) {
      const update = readUpdate(await readObject(request, bounds));
      await limits.take('update', document.code);
      const updated = await changeTools(changing, document, update.reason, (before, options) =>
        updateTools(before, update, options),
      );
      return answer(200, updated);
    },
    metadata: (exchange) => readMetadata(parts, cache, exchange),
  };
}

/** Used for the version of the metadata that shows neither counts nor connections. */
const nothingPassing: PassingMetadata = { usage: new Map(), connected: false };

async function readMetadata(
  { limits, calls, settings: { store } }: NodeParts,
  cache: MetadataCache,
  { request, document, side }: SessionExchange,
): Promise<Answered> {
  const version = negotiateVersion(request.headers.get('accept-version'));
  await limits.takeBySide('metadata', document.code, side as Side);
  const isKnown = (etag: string): boolean => isNamed(etag, request.headers.get('if-none-match'));
  const { headers, written } = await cache.read(document, version, isKnown);
  if (written === undefined || isKnown(headers.ETag))
    return new Response(null, { status: 304, headers });
  // The ETag does not depend on counts and connections, so they are read only for a full answer.
  const passing =
    written.gaps.length === 0
      ? nothingPassing
      : {
          usage: await calls.usage(document.code),
          connected:
            (await documentsOf(store, document.code, [keys.applicationLease]))[0] !== undefined,
        };
  return {
    status: 200,
    headers: { 'Content-Type': 'application/json', ...headers },
    text: fillMetadata(written, passing),
  };
}

// Changes the tools of a session: stores the change, announces it to both sides, and wakes the
// nodes.

const maxTries = 20;
const sides = ['application', 'agent'] as const;

/** The parts of a node that a change of tools needs. */
interface ToolChanging {
  readonly settings: Pick<RelaySettings, 'store' | 'now' | 'pinDefinitions' | 'limits'>;
  readonly hub: Pick<Hub, 'wake'>;
  /** See {@link RegistrationOptions}. */
  readonly taken: RegistrationOptions['taken'];
}

/** Computes the next document of a session's tools, and the response. */
export type ToolsWork<R extends object> = (
  before: ToolsDocument | undefined,
  options: RegistrationOptions,
) => Promise<Registered<R>>;

/**
 * Changes the tools. Computes the change again if the tools have been changed in the meantime.
 * @throws RelayError 404 when the session is gone, 503 `busy`, and what `work` throws
 */
async function changeTools<R extends object>(
  { settings, hub, taken }: ToolChanging,
  { code, toolsRevision: announced }: SessionDocument,
  reason: string,
  work: ToolsWork<R>,
): Promise<R & { toolsRevision: number }> {
  const { store, now, pinDefinitions, limits } = settings;
  for (let tries = 0; tries < maxTries; tries++) {
    const found = await readTools(store, code);
    const before = found?.document;
    const at = Math.floor(now());
    const options = { at, taken, maxTools: limits.toolsPerSession, pinDefinitions };
    const { document, change: names, response } = await work(before, options);
    const { revision } = document;
    const isNew = document !== before;
    if (isNew && !(await writeTools(store, code, document, found))) {
      const [session] = await documentsOf(store, code, [keys.session]);
      if (session === undefined) throw sessionNotFound();
      continue;
    }
    // A node may have written a revision and died before announcing it. Its change is then unknown.
    const isMissed = announced < (isNew ? revision - 1 : revision);
    const mustAnnounce = isMissed || (isNew && !isEmptyChange(names));
    if (mustAnnounce)
      await announce(
        store,
        code,
        isMissed ? everything(reason, at) : toToolsRecord(names, reason, at),
      );
    // Only after the announcement, because the session's revision says what was announced.
    const session = await changeSession(store, code, (now) =>
      now.toolsRevision >= revision ? undefined : { ...now, toolsRevision: revision },
    );
    if (session === undefined) throw sessionNotFound();
    if (mustAnnounce) for (const side of sides) hub.wake(code, `log:${side}`);
    if (mustAnnounce || isNew) hub.wake(code, 'tools');
    return { ...response, toolsRevision: revision };
  }
  throw busy();
}

/** Appends a record to the logs of both sides. */
async function announce(store: KeptStore, code: string, record: LogRecord): Promise<void> {
  const value = JSON.stringify(record);
  const entries = sides.map((log) => ({ op: 'append', log, value, keep: logKeep }) as const);
  if ((await store.apply({ session: code }, entries)).results === undefined)
    throw sessionNotFound();
}
