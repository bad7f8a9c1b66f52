/** What a memory store keeps, and each operation on it. */
import type { Store } from '../../api/store.ts';
import {
  appendEntry,
  charsOfEntries,
  droppedBy,
  type Log,
  readEntries,
  undoAppend,
} from './log.ts';
import { type TimeQueue, timeQueue } from './queue.ts';
import {
  charsOf,
  delist,
  type Ending,
  enlist,
  type Kept,
  listed,
  Misfit,
  newSpace,
  type Space,
  shown,
  type Window,
} from './space.ts';
import { SharedStrings } from './strings.ts';
import { Sums, type Undo } from './sums.ts';

/** The share of the room that is reserved for open sessions. */
const reserve = 0.25;
const sessionChars = 500;
const windowChars = 100;
/** How much that is over is freed at the start of a step, and how much when there is no room. */
const sweptByStep = 16;
const sweptForRoom = 500;
type Write = Store.Set | Store.Touch | Store.Append | Store.Count | Store.Add;

const noSpace = newSpace('', false, 0);

const sizeOf = (document: Kept | undefined): number =>
  document === undefined ? 0 : charsOf(document);

/** Characters that a document in the place of another takes more. */
function growth(before: Kept | undefined, next: Kept | undefined): number {
  const [was, is] = [before?.shared, next?.shared];
  const added = is?.count === 0 ? is.value.length : 0;
  const freed = was !== is && was?.count === 1 ? was.value.length : 0;
  return sizeOf(next) + added - sizeOf(before) - freed;
}

export class Memory {
  /** Of this step: epoch milliseconds, and milliseconds of a clock that only goes on. */
  wall = 0;
  time = 0;
  /** What undoes the step so far; undefined in its last operation, after which none can fail. */
  undo: Undo[] | undefined;
  readonly sums: Sums;
  readonly #clocks: { readonly wall: () => number; readonly time: () => number };
  readonly #maxChars: number;
  readonly #shared = new Map<string, Space>();
  readonly #sessions = new Map<string, Space>();
  /** What ends by each of the two clocks. */
  readonly #byWall: TimeQueue<Ending> = timeQueue();
  readonly #byTime: TimeQueue<Ending> = timeQueue();
  readonly #strings = new SharedStrings();
  #used = 0;
  #version = 0;

  constructor(
    clocks: { readonly wall: () => number; readonly time: () => number },
    maxChars: number,
    maxSums: number,
  ) {
    this.#clocks = clocks;
    this.#maxChars = maxChars;
    this.sums = new Sums(maxSums, (space) => this.#leave(space));
  }

  /** Begins a step: reads the clocks once and frees some of what is over. */
  begin(): void {
    this.wall = this.#clocks.wall();
    this.time = this.#clocks.time();
    this.undo = undefined;
    this.sums.begin();
    this.#sweep(sweptByStep);
  }

  /** Counts characters; a negative number gives them back. @throws Error if there is no room */
  take(chars: number, most = this.#maxChars): void {
    if (chars > 0 && this.#used + chars > most) {
      this.#sweep(sweptForRoom);
      if (this.#used + chars > most)
        throw new Error(
          `The memory store is full (${this.#maxChars} characters). Raise \`maxChars\` of ` +
            '`memoryStore`, let what it keeps end sooner, or use another store.',
        );
    }
    this.#used += chars;
  }

  /** The space; undefined for a session that does not exist, or if nothing is in it. */
  find(space: Store.Space): Space | undefined {
    if ('shared' in space && space.shared !== undefined) return this.#shared.get(space.shared);
    const session = this.#sessions.get((space as { session: string }).session);
    return session !== undefined && session.end > this.wall ? session : undefined;
  }

  /** @returns what the operation returns, or a {@link Misfit} */
  run(space: Store.Space, operation: Store.Operation): unknown {
    const found = this.find(space);
    switch (operation.op) {
      case 'open':
        return this.#open((space as { session: string }).session, found, operation.expiresAt);
      case 'extend':
        return found === undefined ? new Misfit(true) : this.#extend(found, operation.expiresAt);
      case 'drop':
        if (found !== undefined) this.#end(found);
        return found !== undefined;
      case 'get':
        return operation.keys.map((key) => found && this.document(found, key));
      case 'delete':
        return this.#delete(found ?? noSpace, operation, 'session' in space && !found);
      case 'list':
        return listed(found ?? noSpace, operation, this.wall, this.time);
      case 'read':
        return readEntries(found?.logs.get(operation.log), operation.after, operation.limit);
      case 'sum':
        return this.use(space, operation);
      case 'subtract': {
        const undone = this.sums.subtract(found ?? noSpace, operation, this.time);
        if (undone !== undefined) this.undo?.push(undone);
        return true;
      }
      case 'publish':
        return true;
      default:
        return found === undefined
          ? this.#writeFirst(space, operation)
          : this.#write(found, operation);
    }
  }

  /** Writes to a space that does not exist yet. */
  #writeFirst(space: Store.Space, operation: Write): unknown {
    if (!('shared' in space) || space.shared === undefined) return new Misfit(true);
    const made = newSpace(space.shared, true, Number.POSITIVE_INFINITY);
    this.#shared.set(space.shared, made);
    this.undo?.push(() => this.#leave(made));
    try {
      return this.#write(made, operation);
    } finally {
      this.#leave(made);
    }
  }

  /** How a sum and an amount compare. */
  use(space: Store.Space, sliding: Store.Sliding): Store.Use {
    return this.sums.use(this.find(space) ?? noSpace, sliding, this.time);
  }

  #write(space: Space, operation: Write): unknown {
    switch (operation.op) {
      case 'set':
        return this.#set(space, operation);
      case 'touch':
        return this.#touch(space, operation);
      case 'append':
        return this.#append(space, operation);
      case 'count':
        return this.#count(space, operation);
      case 'add':
        return this.sums.add(space, operation, this.time, this.undo) ?? new Misfit(false);
    }
  }

  /** A document as it is found. */
  document(space: Space, key: string): Store.Document | undefined {
    const found = space.documents.get(key);
    const left = found === undefined ? 0 : this.#left(found);
    return found !== undefined && left > 0 ? shown(found, left) : undefined;
  }

  #left({ end, byWall }: Kept): number {
    return end - (byWall ? this.wall : this.time);
  }

  #current(space: Space, key: string): Kept | undefined {
    const found = space.documents.get(key);
    return found !== undefined && this.#left(found) > 0 ? found : undefined;
  }

  /** Forgets a shared space with nothing in it. */
  #leave(space: Space): void {
    const { isShared, name, documents, logs, windows, sums } = space;
    if (!isShared || documents.size + logs.size + windows.size + sums.size > 0) return;
    if (this.#shared.get(name) === space) this.#shared.delete(name);
  }

  #open(name: string, found: Space | undefined, expiresAt: number): true | Misfit {
    if (found !== undefined) return new Misfit(false);
    const over = this.#sessions.get(name);
    if (over !== undefined) this.#end(over);
    this.take(sessionChars, this.#maxChars * (1 - reserve));
    const space = newSpace(name, false, expiresAt);
    space.timed = this.#byWall.add(expiresAt, { space, session: true });
    this.#sessions.set(name, space);
    this.undo?.push(() => this.#end(space));
    return true;
  }

  #extend(space: Space, expiresAt: number): true {
    const before = space.end;
    if (expiresAt <= before) return true;
    this.#endAt(space, expiresAt);
    this.undo?.push(() => this.#endAt(space, before));
    return true;
  }

  #endAt(space: Space, end: number): void {
    if (space.timed !== undefined) this.#byWall.remove(space.timed);
    space.end = end;
    space.timed = this.#byWall.add(end, { space, session: true });
  }

  /** Ends a session with everything in it. */
  #end(space: Space): void {
    if (this.#sessions.get(space.name) !== space) return;
    this.#sessions.delete(space.name);
    if (space.timed !== undefined) this.#byWall.remove(space.timed);
    let chars = sessionChars;
    for (const document of space.documents.values()) {
      chars += charsOf(document) + this.#strings.release(document.shared);
      this.#forgetEnd(space, document);
    }
    for (const { values, start } of space.logs.values())
      chars += charsOfEntries(values.slice(start));
    chars += windowChars * space.windows.size;
    // Their entries in the queue find that they are no longer there.
    space.windows.clear();
    this.#used -= chars;
  }

  #set(space: Space, set: Store.Set): number | Misfit {
    const { key, value, version, ttlMs, expiresAt, lists = [] } = set;
    const found = this.#current(space, key);
    if (version !== undefined && version !== (found?.version ?? 0))
      return new Misfit(false, 0, found && shown(found, this.#left(found)));
    const end = ttlMs === undefined ? (expiresAt ?? Infinity) : this.time + ttlMs;
    const shared = space.isShared ? undefined : this.#strings.find(value);
    const next: Kept = {
      key,
      value: shared?.value ?? value,
      shared,
      version: ++this.#version,
      end,
      byWall: ttlMs === undefined,
      expiresAt: ttlMs === undefined ? (expiresAt ?? null) : Math.ceil(this.wall + ttlMs),
      lists,
    };
    this.#replace(space, key, next);
    return next.version;
  }

  #touch(space: Space, { key, version, ttlMs }: Store.Touch): true | Misfit {
    const found = this.#current(space, key);
    if (found === undefined || found.version !== version)
      return new Misfit(false, 0, found && shown(found, this.#left(found)));
    const end = this.time + ttlMs;
    const expiresAt = Math.ceil(this.wall + ttlMs);
    this.#replace(space, key, { ...found, end, byWall: false, expiresAt });
    return true;
  }

  #delete(space: Space, { key, version, required }: Store.Delete, gone: boolean): boolean | Misfit {
    const found = this.#current(space, key);
    const fits = found !== undefined && (version === undefined || version === found.version);
    if (fits) this.#replace(space, key, undefined);
    else if (required === true)
      return new Misfit(gone, 0, found && shown(found, this.#left(found)));
    return fits;
  }

  /** Puts a document, or none, in the place of another. @throws Error if there is no room */
  #replace(space: Space, key: string, next: Kept | undefined): void {
    const before = space.documents.get(key);
    this.take(growth(before, next));
    this.#put(space, key, before, next);
    this.undo?.push(() => {
      const now = space.documents.get(key);
      this.#used += growth(now, before);
      this.#put(space, key, now, before);
    });
  }

  #put(space: Space, key: string, before: Kept | undefined, next: Kept | undefined): void {
    // First the new one, so that an equal value keeps its string.
    this.#strings.hold(next?.shared);
    this.#strings.release(before?.shared);
    if (before !== undefined) {
      this.#forgetEnd(space, before);
      delist(space, before);
    }
    if (next === undefined) {
      space.documents.delete(key);
      this.#leave(space);
      return;
    }
    // It was forgotten when its last document went, and an undo refills it.
    if (space.isShared && space.documents.size === 0) this.#shared.set(space.name, space);
    space.documents.set(key, next);
    enlist(space, next);
    if (next.end === Infinity) return;
    const queue = next.byWall ? this.#byWall : this.#byTime;
    space.ends.set(key, queue.add(next.end, { space, document: next }));
  }

  #forgetEnd({ ends }: Space, { key, byWall }: Kept): void {
    const timed = ends.get(key);
    if (timed === undefined) return;
    (byWall ? this.#byWall : this.#byTime).remove(timed);
    ends.delete(key);
  }

  #append(space: Space, { log: name, value, keep = Infinity, after }: Store.Append): unknown {
    const log: Log = space.logs.get(name) ?? { last: 0, values: [], start: 0 };
    if (after !== undefined && after !== log.last) return new Misfit(false);
    const dropped = keep === Infinity ? [] : droppedBy(log, keep);
    const chars = charsOfEntries([value]) - charsOfEntries(dropped);
    this.take(chars);
    const isNew = !space.logs.has(name);
    if (isNew) space.logs.set(name, log);
    appendEntry(log, value, dropped.length);
    this.undo?.push(() => {
      this.#used -= chars;
      undoAppend(log, dropped);
      if (isNew) space.logs.delete(name);
    });
    return { id: log.last, dropped };
  }

  #count(space: Space, { key, limit, windowMs }: Store.Count): true | Misfit {
    const before = space.windows.get(key);
    if (before !== undefined && before.end > this.time) {
      if (before.used >= limit) return new Misfit(false, before.end - this.time);
      before.used += 1;
      this.undo?.push(() => {
        before.used -= 1;
      });
      return true;
    }
    if (before === undefined) this.take(windowChars);
    const window: Window = { end: this.time + windowMs, used: 1 };
    const timed = this.#byTime.add(window.end, { space, window, key });
    space.windows.set(key, window);
    this.undo?.push(() => {
      this.#byTime.remove(timed);
      if (before !== undefined) space.windows.set(key, before);
      else {
        space.windows.delete(key);
        this.#used -= windowChars;
      }
    });
    return true;
  }

  /** Frees what is over. @param most how many at once */
  #sweep(most: number): void {
    for (const [queue, time] of [
      [this.#byWall, this.wall],
      [this.#byTime, this.time],
    ] as const)
      for (let left = most; left > 0; left--) {
        const first = queue.first(time);
        if (first === undefined) break;
        queue.remove(first);
        this.#over(first.item);
      }
  }

  #over(ending: Ending): void {
    const { space } = ending;
    if ('session' in ending) this.#end(space);
    else if ('document' in ending) {
      const { document } = ending;
      this.#used += growth(document, undefined);
      this.#put(space, document.key, document, undefined);
    } else if (space.windows.get(ending.key) === ending.window) {
      space.windows.delete(ending.key);
      this.#used -= windowChars;
      this.#leave(space);
    }
  }
}
