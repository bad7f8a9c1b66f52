/** Which calls wait for which units, so that a wait that could never end is refused. */

/** A call that holds units or waits for one. The call's own record implements it. */
export interface Holder {
  /** The call that made this one. A child may use what one of its ancestors holds. */
  readonly parent: Holder | undefined;
  /** The unit of fairness: the session. */
  readonly owner: object;
  /**
   * Maintained by the wait graph; starts as `undefined`. A holder waits for one thing at a time.
   */
  waitingFor: Waitable | undefined;
}

/** What a holder can wait for: a semaphore. */
export interface Waitable {
  /** How many units are taken. */
  readonly held: number;
  readonly capacity: number;
  holders(): Iterable<Holder>;
}

/** Shared by all semaphores that one call may hold together. */
export interface WaitGraph {
  /** For each call, its descendants that wait. */
  readonly waitingBelow: Map<Holder, Set<Holder>>;
}

/** A wait graph without waits. All semaphores of a registry share one. */
export function createWaitGraph(): WaitGraph {
  return { waitingBelow: new Map() };
}

const nothing: ReadonlySet<Waitable> = new Set();

/** Notes a wait. */
export function startWait({ waitingBelow }: WaitGraph, holder: Holder, target: Waitable): void {
  holder.waitingFor = target;
  for (let call = holder.parent; call !== undefined; call = call.parent) {
    const below = waitingBelow.get(call);
    if (below === undefined) waitingBelow.set(call, new Set([holder]));
    else below.add(holder);
  }
}

/** Removes a wait. */
export function endWait({ waitingBelow }: WaitGraph, holder: Holder): void {
  holder.waitingFor = undefined;
  for (let call = holder.parent; call !== undefined; call = call.parent) {
    const below = waitingBelow.get(call);
    if (below?.delete(holder) && below.size === 0) waitingBelow.delete(call);
  }
}

/**
 * Whether this wait, which is already noted, closes a cycle. A holder that only queues behind a
 * cycle of others is not refused: it waits like them.
 */
export function closesCycle(waits: WaitGraph, holder: Holder, target: Waitable): boolean {
  if (!isStuck(waits, target)) return false;
  endWait(waits, holder);
  const stuckWithout = isStuck(waits, target);
  startWait(waits, holder, target);
  return !stuckWithout;
}

/**
 * Whether no unit of a semaphore can ever come back. A holder can finish if it and each of its
 * waiting descendants wait for a semaphore that moves. A semaphore moves if enough of its holders
 * can finish. Starting from none, the ones that move are collected until none is added. The others
 * are stuck.
 */
function isStuck(waits: WaitGraph, target: Waitable): boolean {
  // Nearly always, some holder waits for nothing.
  if (moves(waits, target, nothing)) return false;
  const moving = new Set<Waitable>();
  const reached = new Set<Waitable>([target]);
  for (const semaphore of reached) {
    for (const holder of semaphore.holders()) {
      if (holder.waitingFor !== undefined) reached.add(holder.waitingFor);
      for (const descendant of waits.waitingBelow.get(holder) ?? [])
        if (descendant.waitingFor !== undefined) reached.add(descendant.waitingFor);
    }
  }
  for (let before = -1; before < moving.size; ) {
    before = moving.size;
    for (const semaphore of reached)
      if (!moving.has(semaphore) && moves(waits, semaphore, moving)) moving.add(semaphore);
  }
  return !moving.has(target);
}

function moves(waits: WaitGraph, semaphore: Waitable, moving: ReadonlySet<Waitable>): boolean {
  // More than one holder must finish if the capacity was lowered below what is held. A capacity of
  // 0 waits for the host to raise it, not for a call.
  let needed = Math.min(semaphore.held - semaphore.capacity + 1, semaphore.held);
  if (needed <= 0) return true;
  for (const holder of semaphore.holders()) {
    if (!canFinish(waits, holder, moving)) continue;
    needed -= 1;
    if (needed === 0) return true;
  }
  return false;
}

function canFinish(waits: WaitGraph, holder: Holder, moving: ReadonlySet<Waitable>): boolean {
  if (holder.waitingFor !== undefined && !moving.has(holder.waitingFor)) return false;
  const below = waits.waitingBelow.get(holder);
  if (below !== undefined)
    for (const { waitingFor } of below)
      if (waitingFor !== undefined && !moving.has(waitingFor)) return false;
  return true;
}
