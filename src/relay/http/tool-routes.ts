/** The application's tools: registered, updated, described. */

import { busy, changeSession } from '../calls/session-document.ts';
import {
  everything,
  isEmptyChange,
  registrationReason,
  toToolsRecord,
} from '../events/tool-updates.ts';
import {
  keys,
  type LogRecord,
  logKeep,
  type SessionDocument,
  type Side,
  type ToolsDocument,
} from '../ports/documents.ts';
import { sessionNotFound } from '../relay-error.ts';
import {
  type Registered,
  type RegistrationOptions,
  registerTools,
  updateTools,
} from '../tools/registration.ts';
import { readRegistration, readUpdate } from '../tools/registration-body.ts';
import { readTools, writeTools } from '../tools/tools-document.ts';
import { readObject } from './bodies.ts';
import { isNamed, negotiateVersion } from './metadata.ts';
import { createMetadataCache } from './metadata-cache.ts';
import type { NodeParts, SessionExchange, SessionHandlers } from './node-parts.ts';
import type { Answered } from './reply.ts';
import { answer } from './responses.ts';

const mostTries = 20;

/** Handlers of these routes. */
export function toolRoutes({
  settings,
  limits,
  hub,
  live,
}: NodeParts): Pick<SessionHandlers, 'register-tools' | 'update-tools' | 'metadata'> {
  const { store, now, pinDefinitions } = settings;
  const metadata = createMetadataCache(store);

  const sides = ['application', 'agent'] as const;
  /** Writes into both sides' logs. */
  const announce = async (code: string, record: LogRecord): Promise<void> => {
    for (const side of sides)
      if ((await store.append(code, side, JSON.stringify(record), logKeep)) === undefined)
        throw sessionNotFound();
  };

  /** Works a change out again over what others have written meanwhile. */
  const change = async <R extends object>(
    { code, toolsRevision: told }: SessionDocument,
    reason: string,
    work: (
      before: ToolsDocument | undefined,
      options: RegistrationOptions,
    ) => Promise<Registered<R>>,
  ): Promise<R & { toolsRevision: number }> => {
    for (let tries = 0; tries < mostTries; tries++) {
      const found = await readTools(store, code);
      const before = found?.document;
      const at = Math.floor(now());
      const options = {
        at,
        taken: live.taken,
        maxTools: settings.limits.toolsPerSession,
        pinDefinitions,
      };
      const { document, change: names, response } = await work(before, options);
      const { revision } = document;
      const isNew = document !== before;
      if (isNew && !(await writeTools(store, code, document, found))) {
        const [session] = await store.get(code, [keys.session]);
        if (session === undefined) throw sessionNotFound();
        continue;
      }
      // Whoever wrote a revision may have gone before it was told: then nobody knows what came of
      // it.
      const isMissed = told < (isNew ? revision - 1 : revision);
      const isTold = isMissed || (isNew && !isEmptyChange(names));
      if (isTold)
        await announce(code, isMissed ? everything(reason, at) : toToolsRecord(names, reason, at));
      // After that, since the session's revision says how far both sides were told.
      const session = await changeSession(store, code, (now) =>
        now.toolsRevision >= revision ? undefined : { ...now, toolsRevision: revision },
      );
      if (session === undefined) throw sessionNotFound();
      if (isTold) for (const side of sides) hub.wake(code, `log:${side}`);
      if (isTold || isNew) hub.wake(code, 'tools');
      return { ...response, toolsRevision: revision };
    }
    throw busy();
  };

  const describe = async ({ request, document, side }: SessionExchange): Promise<Answered> => {
    const version = negotiateVersion(request.headers.get('accept-version'));
    await limits.metadata(document.code, side as Side);
    const isKnown = (etag: string): boolean => isNamed(etag, request.headers.get('if-none-match'));
    const { text, headers } = await metadata.read(
      await live.get(document),
      document,
      version,
      isKnown,
    );
    if (isKnown(headers.ETag)) return new Response(null, { status: 304, headers });
    return { status: 200, headers: { 'Content-Type': 'application/json', ...headers }, text };
  };

  return {
    async 'register-tools'({ request, bounds, document }) {
      const registration = readRegistration(await readObject(request, bounds));
      await limits.update(document.code);
      return answer(
        201,
        await change(document, registrationReason, (before, options) =>
          registerTools(before, registration, options),
        ),
      );
    },
    async 'update-tools'({ request, bounds, document }) {
      const update = readUpdate(await readObject(request, bounds));
      await limits.update(document.code);
      return answer(
        200,
        await change(document, update.reason, (before, options) =>
          updateTools(before, update, options),
        ),
      );
    },
    metadata: describe,
  };
}
