/** The state of the page: the waiting approvals, what a person is typing, and the outcomes. */
import { useLayoutEffect, useState } from 'preact/hooks';
import type {
  SentDecision,
  UndoOutcome,
  WaitingApproval,
  WaitingList,
} from '../../approvals-wire.ts';
import type { Edited } from '../parts/edited-input.ts';
import type { Refused } from '../parts/server.ts';
import { groupsOf } from './groups.ts';
import type { InboxServer } from './inbox-server.ts';
import { type Ended, endedBy, endedFor } from './outcome-words.ts';

/** The state of the page's connection. */
export type Connection = 'connecting' | 'live' | 'away' | 'signed-out';

/** A person's unfinished answer to an approval. */
export interface Draft {
  readonly doing: 'look' | 'reject' | 'edit' | 'review';
  readonly message: string;
  /** The edited input. Undefined before the first edit. */
  readonly edited: Edited | undefined;
  /** What the server says about the edit, by the names of fields. */
  readonly faults: ReadonlyMap<string, string>;
  readonly sending: boolean;
  readonly trouble: string;
}

/** An approval in the list. */
export interface Entry {
  /** Its position in the order of arrival at this page. */
  readonly n: number;
  readonly asked: WaitingApproval;
  /** Why it no longer waits. It is shown until the person moves to another one. */
  readonly ended: Ended | undefined;
}

/** Everything that the page shows. */
export interface Known {
  readonly connection: Connection;
  readonly trouble: string;
  /** The name under which answers count. */
  readonly by: string;
  /** Oldest first, those of a group one after another. */
  readonly entries: readonly Entry[];
  /** Whether there are more approvals than the list contains. */
  readonly more: boolean;
  readonly chosen: number | undefined;
  /** The server's clock minus the browser's. */
  readonly aheadMs: number;
}

/** The inbox of one page. */
export interface Inbox {
  readonly known: Known;
  subscribe(changed: () => void): () => void;
  choose(n: number): void;
  draftOf(id: string): Draft;
  change(id: string, part: Partial<Draft>): void;
  /** Begins to edit an approval, and asks for the schema of its tool. */
  edit(entry: Entry): void;
  answer(entry: Entry, decision: SentDecision): Promise<void>;
  /** Takes a call back that was allowed. Rejects with what the server says. */
  undo(entry: Entry): Promise<UndoOutcome>;
  /** Asks for the list now. */
  refresh(): void;
}

const noDraft: Draft = {
  doing: 'look',
  message: '',
  edited: undefined,
  faults: new Map(),
  sending: false,
  trouble: '',
};

/**
 * Begins to ask for approvals, and continues as long as the page is open. Longer than 60 lines,
 * since its short functions share the entries and the drafts.
 */
export function openInbox(server: InboxServer): Inbox {
  const subscribers = new Set<() => void>();
  const drafts = new Map<string, Draft>();
  /** Long approvals that were opened. A list has only their heads. */
  const wholes = new Map<string, WaitingApproval>();
  const loading = new Set<string>();
  let numbered = 0;

  const inbox: { -readonly [Name in keyof Inbox]: Inbox[Name] } = {
    known: {
      connection: 'connecting',
      trouble: '',
      by: '',
      entries: [],
      more: false,
      chosen: undefined,
      aheadMs: 0,
    },
    subscribe(changed) {
      subscribers.add(changed);
      return () => void subscribers.delete(changed);
    },
    choose(n) {
      if (n === inbox.known.chosen) return;
      set({ chosen: n });
      set({ entries: inbox.known.entries.filter(isKept) });
      void load();
    },
    draftOf: (id) => drafts.get(id) ?? noDraft,
    change(id, part) {
      drafts.set(id, { ...(drafts.get(id) ?? noDraft), ...part });
      set({});
    },
    edit({ asked }) {
      inbox.change(asked.id, { doing: 'edit' });
      if (asked.schema === undefined) void load(true);
    },
    async answer({ asked }, decision) {
      const { id } = asked;
      if (inbox.draftOf(id).sending) return;
      inbox.change(id, { sending: true, trouble: '', faults: noDraft.faults });
      try {
        const outcome = await server.answer(id, decision);
        drafts.delete(id);
        end(id, endedBy(outcome, decision));
      } catch (error) {
        const { status, message } = error as Refused;
        const ended = endedFor(error);
        if (ended !== undefined) end(id, ended);
        if (status === 401) set({ connection: 'signed-out', trouble: message });
        inbox.change(id, {
          sending: false,
          trouble: ended === undefined ? troubleOf(error) : '',
          faults: faultsOf(error),
        });
      }
      refresh();
    },
    async undo({ asked }) {
      if (server.undo === undefined) throw new Error('It is taken back elsewhere.');
      return server.undo(asked.id);
    },
    refresh: () => refresh(),
  };

  function set(change: Partial<Known>): void {
    inbox.known = { ...inbox.known, ...change };
    for (const changed of subscribers) changed();
  }
  function end(id: string, ended: Ended): void {
    set({
      entries: inbox.known.entries.map((entry) =>
        entry.asked.id === id ? { ...entry, ended } : entry,
      ),
    });
  }
  /**
   * Requests what the list leaves out of the chosen approval. After a failure, the next list tries
   * again. @param always Also if only the schema of its tool is missing.
   */
  async function load(always = false): Promise<void> {
    const { entries, chosen } = inbox.known;
    const asked = entries.find(({ n }) => n === chosen)?.asked;
    if (asked === undefined || (asked.leftOut === undefined && !always)) return;
    if (loading.has(asked.id)) return;
    const { id } = asked;
    loading.add(id);
    try {
      const whole = await server.one(id);
      wholes.set(id, whole);
      set({
        entries: inbox.known.entries.map((entry) =>
          entry.asked.id === id ? { ...entry, asked: whole } : entry,
        ),
      });
    } catch {
      // It may have been answered meanwhile, which the next list says.
    } finally {
      loading.delete(id);
    }
  }
  /** Keeps an ended entry that the person is looking at or has begun to answer. */
  function isKept({ n, asked, ended }: Entry): boolean {
    if (ended === undefined || n === inbox.known.chosen) return true;
    const { edited, message } = inbox.draftOf(asked.id);
    return edited !== undefined || message !== '';
  }
  function take(list: WaitingList): void {
    const before = new Map(inbox.known.entries.map((entry) => [entry.asked.id, entry]));
    const after: Entry[] = list.approvals.map((row) => {
      const asked = wholes.get(row.id) ?? row;
      const known = before.get(asked.id);
      before.delete(asked.id);
      if (known === undefined) return { n: ++numbered, asked, ended: undefined };
      return known.ended === endedElsewhere ? { ...known, ended: undefined } : known;
    });
    // The list begins with the approvals that expire first. Those beyond its end may still wait.
    const edge = list.next === undefined ? Number.POSITIVE_INFINITY : lastExpiry(list.approvals);
    for (const entry of before.values()) {
      const beyond = entry.asked.expiresAt >= edge;
      // An answer in transit has removed it from the list. Its outcome will follow.
      const unclear = beyond || inbox.draftOf(entry.asked.id).sending;
      const kept = unclear || entry.ended ? entry : { ...entry, ended: endedElsewhere };
      if (isKept(kept)) after.push(kept);
      else drafts.delete(kept.asked.id);
    }
    const ids = new Set(after.map(({ asked }) => asked.id));
    for (const id of wholes.keys()) if (!ids.has(id)) wholes.delete(id);
    const { chosen } = inbox.known;
    const entries = groupsOf(after).flatMap(({ members }) => members);
    const isThere = after.some(({ n }) => n === chosen);
    set({
      by: list.by,
      entries,
      more: list.next !== undefined,
      chosen: isThere ? chosen : entries[0]?.n,
    });
  }
  const refresh = server.open({
    live(aheadMs) {
      if (inbox.known.connection !== 'live' || Math.abs(inbox.known.aheadMs - aheadMs) > 500)
        set({ connection: 'live', trouble: '', aheadMs });
      void load();
    },
    list: take,
    failed(error) {
      const { status, message } = error as Refused;
      // The host or a proxy in front of it may refuse the person with 403.
      const isOut = status === 401 || status === 403;
      set({ connection: isOut ? 'signed-out' : 'away', trouble: message });
    },
  });
  return inbox;
}

const endedElsewhere: Ended = {
  word: 'gone',
  tone: 'plain',
  text: 'This no longer waits: somebody else has answered it, or it has expired.',
};

function lastExpiry(approvals: readonly WaitingApproval[]): number {
  return approvals.at(-1)?.expiresAt ?? Number.POSITIVE_INFINITY;
}

/** By the first names of paths such as `to.0`, which are the names of fields. */
function faultsOf(error: unknown): ReadonlyMap<string, string> {
  const faults = new Map<string, string>();
  for (const { path, message } of (error as Refused).issues ?? []) {
    const [name = ''] = path.split('.', 1);
    const said = name === path ? message : `${path}: ${message}`;
    faults.set(name, [faults.get(name), said].filter((one) => one !== undefined).join('\n'));
  }
  return faults;
}

function troubleOf(error: unknown): string {
  const { status, message } = error as Refused;
  if (status === 0)
    return (
      'The server did not answer, so it is not known whether your answer arrived. If the call ' +
      'still waits in a moment, answer again.'
    );
  return status === 401 ? 'You are signed out, so nothing was answered.' : message;
}

/** The present state of the page. Draws again when it changes. */
export function useKnown(inbox: Inbox): Known {
  const [, draw] = useState(0);
  // At once: an effect waits for a frame, and what arrives before it would not be drawn.
  useLayoutEffect(() => inbox.subscribe(() => draw((n) => n + 1)), [inbox]);
  return inbox.known;
}
