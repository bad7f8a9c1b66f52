/**
 * A lock file: only one process at a time does something. The lock of a process that has died does
 * not count, so that no one needs to clean up after a crash.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { MisuseError } from '../errors/index.ts';

/** How often the owner updates the lock. Only other machines need that. */
const heartbeatMs = 10_000;
/** How long a lock of another machine counts after its last update. */
const silentMs = 60_000;
/** How long a lock counts that its owner has not filled in yet. */
const unfilledMs = 10_000;

interface Owner {
  readonly pid: number;
  readonly host: string;
  /**
   * When the process started, as its system counts. It distinguishes the process from a later one
   * with the same id.
   */
  readonly started: string;
  readonly token: string;
}

/** A lock that this process holds. */
export interface Lock {
  /** Whether a process that has died had left it. */
  readonly wasLeft: boolean;
  release(): void;
}

/**
 * Takes the lock.
 * @param where The function that needs it, for messages.
 * @throws MisuseError `in_use` if another process, or another part of this one, holds it.
 */
export function takeLock(file: string, where: string): Lock {
  const { pid } = process;
  const own: Owner = { pid, host: hostname(), started: startOf(pid), token: randomUUID() };
  const text = JSON.stringify(own);
  let wasLeft = false;
  if (!create(file, text)) {
    // Only one process at a time checks an old lock, so that no two take it over.
    const turn = `${file}.turn`;
    if (!create(turn, text)) {
      if (ageOf(turn) < unfilledMs) throw held(file, where);
      rmSync(turn, { force: true });
      if (!create(turn, text)) throw held(file, where);
    }
    try {
      const owner = ownerIn(file);
      if (counts(file, owner, own)) throw held(file, where);
      wasLeft = owner !== undefined;
      rmSync(file, { force: true });
      if (!create(file, text)) throw held(file, where);
    } finally {
      rmSync(turn, { force: true });
    }
  }
  const beat = setInterval(() => {
    try {
      const now = new Date();
      utimesSync(file, now, now);
    } catch {
      // Someone has removed the file. The lock is lost, and nothing can be done about that here.
    }
  }, heartbeatMs);
  beat.unref();
  return {
    wasLeft,
    release() {
      clearInterval(beat);
      if (ownerIn(file)?.token === own.token) rmSync(file, { force: true });
    },
  };
}

function held(file: string, where: string): MisuseError {
  const owner = ownerIn(file);
  const who =
    owner === undefined
      ? 'Another process'
      : `Process ${owner.pid} on ${owner.host || 'a machine'}`;
  return new MisuseError(
    'in_use',
    `${where}: expected to be the only writer of \`path\`. ${who} holds ${file}. Give each ` +
      'process a log of its own, or remove the lock file if that process has ended.',
  );
}

/** False if there is such a file. */
function create(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EEXIST') return false;
    throw error;
  }
}

/** Whether the owner of a lock may still be writing. */
function counts(file: string, owner: Owner | undefined, own: Owner): boolean {
  if (owner === undefined) return ageOf(file) < unfilledMs;
  if (owner.host !== own.host) return ageOf(file) < silentMs;
  const started = startOf(owner.pid);
  if (started !== '' && owner.started !== '') return started === owner.started;
  return isAlive(owner.pid);
}

function ownerIn(file: string): Owner | undefined {
  try {
    // To open a pipe would wait for somebody who writes.
    if (!statSync(file).isFile()) return undefined;
    const owner = JSON.parse(readFileSync(file, 'utf8')) as Owner;
    return Number.isSafeInteger(owner.pid) && owner.pid > 0 ? owner : undefined;
  } catch {
    return undefined;
  }
}

/** Milliseconds since the file was written or touched; infinite if it is gone. */
function ageOf(file: string): number {
  try {
    return Date.now() - statSync(file).mtimeMs;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code === 'EPERM';
  }
}

/** When a process started, if the system says so, as Linux does. `""` elsewhere. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name, in parentheses, may contain anything.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}
