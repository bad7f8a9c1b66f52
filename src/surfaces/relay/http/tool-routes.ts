/** The routes of an application's tools: registration, updates and metadata. */

import { registrationReason } from '../events/tool-updates.ts';
import { keys, type Side } from '../ports/documents.ts';
import { registerTools, updateTools } from '../tools/registration.ts';
import { readRegistration, readUpdate } from '../tools/registration-body.ts';
import { readObject } from './bodies.ts';
import { changeTools, type ToolChanging } from './change-tools.ts';
import { fillMetadata, isNamed, negotiateVersion, type PassingMetadata } from './metadata.ts';
import { createMetadataCache, type MetadataCache } from './metadata-cache.ts';
import type { NodeParts, SessionExchange, SessionHandlers } from './node-parts.ts';
import type { Answered } from './reply.ts';
import { answer } from './responses.ts';

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
          connected: (await store.holder(document.code, keys.applicationLease)) !== undefined,
        };
  return {
    status: 200,
    headers: { 'Content-Type': 'application/json', ...headers },
    text: fillMetadata(written, passing),
  };
}
