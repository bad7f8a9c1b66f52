/** Questions that belong together: of one program, or asked by one session at the same time. */
import type { WaitingApproval } from '../../approvals-wire.ts';

/** Questions that are next to each other in the list, in the order in which they were asked. */
export interface Group<E> {
  /** What they have in common, such as `calls of pay_all`. */
  readonly words: string;
  readonly members: readonly E[];
}

interface Asking {
  readonly n: number;
  readonly asked: Pick<
    WaitingApproval,
    'callId' | 'parent' | 'sessionId' | 'principal' | 'requestedAt'
  >;
}

/** A model that makes several calls at once asks about them within this many milliseconds. */
const togetherMs = 2_000;

/** All entries, oldest first, but those of a group one after another. */
export function groupsOf<E extends Asking>(entries: readonly E[]): Group<E>[] {
  const sorted = [...entries].sort(byAge);
  const groups: { words: string; members: E[] }[] = [];
  const byParent = new Map<string, E[]>();
  const bySession = new Map<string, E[]>();
  for (const entry of sorted) {
    const { sessionId, principal, parent, requestedAt } = entry.asked;
    const [known, key] =
      parent === undefined
        ? [bySession, JSON.stringify([sessionId, principal])]
        : [byParent, JSON.stringify([sessionId, principal, parent.callId])];
    const group = known.get(key);
    const last = group?.at(-1)?.asked.requestedAt ?? Number.NEGATIVE_INFINITY;
    if (group !== undefined && (parent !== undefined || requestedAt - last <= togetherMs)) {
      group.push(entry);
      continue;
    }
    const members = [entry];
    known.set(key, members);
    const words =
      parent === undefined ? `calls asked together in ${sessionId}` : `calls of ${parent.tool}`;
    groups.push({ words, members });
  }
  return groups;
}

/** Child calls have numbers at the end of their ids, so they stay in the order of the program. */
function byAge(a: Asking, b: Asking): number {
  return (
    a.asked.requestedAt - b.asked.requestedAt ||
    a.asked.callId.localeCompare(b.asked.callId, 'en', { numeric: true }) ||
    a.n - b.n
  );
}
