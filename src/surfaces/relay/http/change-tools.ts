/**
 * Changes the tools of a session: stores the change, announces it to both sides, and wakes the
 * nodes.
 */
import { busy, changeSession } from '../calls/session-document.ts';
import { everything, isEmptyChange, toToolsRecord } from '../events/tool-updates.ts';
import type { Hub } from '../hub.ts';
import {
  keys,
  type LogRecord,
  logKeep,
  type SessionDocument,
  type ToolsDocument,
} from '../ports/documents.ts';
import type { RelayStore } from '../ports/store.ts';
import { sessionNotFound } from '../relay-error.ts';
import type { RelaySettings } from '../settings.ts';
import type { Registered, RegistrationOptions } from '../tools/registration.ts';
import { readTools, writeTools } from '../tools/tools-document.ts';

const maxTries = 20;
const sides = ['application', 'agent'] as const;

/** The parts of a node that a change of tools needs. */
export interface ToolChanging {
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
export async function changeTools<R extends object>(
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
      const [session] = await store.get(code, [keys.session]);
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
async function announce(store: RelayStore, code: string, record: LogRecord): Promise<void> {
  for (const side of sides)
    if ((await store.append(code, side, JSON.stringify(record), logKeep)) === undefined)
      throw sessionNotFound();
}
