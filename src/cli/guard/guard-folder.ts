/** The folder of an installed guard, and what `hook install` has recorded in it. */
import { createHash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, isAbsolute, join } from 'node:path';
import type { UserHome } from '../../surfaces/agents/hooks.ts';
import { createFileSync } from '../../values/files/whole-file.ts';
import type { HookTask } from '../hook-task.ts';

/** The files of a guard, beside `guard.json` and the audit log. */
export const guardFiles = {
  /** What the agent starts: a script that starts the hook. */
  launcher: 'hook',
  /** The hook. */
  hook: 'hook.cjs',
  /** What it judges with. */
  judge: 'hook-judge.cjs',
  /** The rules. The user may edit them; `hook install` then accepts the edit. */
  rules: 'rules.yaml',
} as const;
/** The compiled code of `judge`, for the Node that has installed the guard. */
export const compiledName = 'compiled.bin';
/** The rules as JSON, which takes less time to read; absent if the file has tools or profiles. */
export const parsedName = 'rules.json';
/** What is recorded. */
export const recordName = 'guard.json';
/** The audit log, unless the rules name one. */
export const auditName = 'audit.jsonl';

/** What `hook install` has recorded. */
export interface GuardRecord {
  /** The agent that it guards. */
  readonly agent: string;
  /** The SHA-256 of each file, in hexadecimal, by the file's name. */
  readonly digests: Readonly<Record<string, string>>;
}

/** The folder of the guard of an agent. A relative `XDG_CONFIG_HOME` does not count. */
export function guardFolder(agent: string, { env, home }: UserHome): string {
  const { XDG_CONFIG_HOME: given } = env;
  const base = given !== undefined && isAbsolute(given) ? given : join(home, '.config');
  return join(base, 'host-tools', 'guard', agent);
}

/** @throws Error if there is no record that can be understood */
export function readRecord(folder: string): GuardRecord {
  const path = join(folder, recordName);
  try {
    const { agent, digests } = JSON.parse(readRegular(path)?.toString('utf8') ?? '') as GuardRecord;
    const names = Object.keys(digests);
    const isWhole =
      Object.values(guardFiles).every((name) => names.includes(name)) &&
      names.every((name) => /^[\w.-]+$/.test(name) && /^[0-9a-f]{64}$/.test(digests[name] ?? ''));
    if (typeof agent === 'string' && isWhole) return { agent, digests };
  } catch {
    // Continues below.
  }
  throw new Error(
    `${path} is missing or was changed. Run \`npx host-tools hook install ${basename(folder)}\`.`,
  );
}

/**
 * Compares the files of a guard with what was recorded when it was installed.
 * @returns the content of each file
 * @throws Error that names the first one that differs, and says what to do
 */
export function verifiedFiles(
  folder: string,
  { agent, digests }: GuardRecord,
): ReadonlyMap<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const [name, digest] of Object.entries(digests)) {
    const path = join(folder, name);
    const content = readRegular(path);
    if (content === undefined || digestOf(content) !== digest)
      throw new Error(
        content === undefined
          ? `${path} is missing. Run \`npx host-tools hook install ${agent}\` again.`
          : `${path} is not as it was installed. If you changed it yourself, run ` +
              `\`npx host-tools hook install ${agent}\` to accept it.`,
      );
    files.set(name, content);
  }
  return files;
}

/** In hexadecimal. */
export function digestOf(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Undefined if there is no regular file: to open a pipe would wait for its other end. */
function readRegular(path: string): Buffer | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true
    ? readFileSync(path)
    : undefined;
}

/**
 * Whether a file may name a module. The hook of a guard loads none: it runs code only from its own
 * folder.
 */
export function mayNameModules(text: string): boolean {
  return /(?:^|[\s{,'"])module['"]?\s*:/.test(text);
}

// How `hook check` learns that an agent has started the hook of a guard.

/** The environment variable with the number of a check: 32 hex digits. */
export const checkVariable = 'HOST_TOOLS_HOOK_CHECK';

/** The file that a hook creates if it runs during a check. Undefined for a wrong number. */
export function checkFile(number: string | undefined): string | undefined {
  return /^[0-9a-f]{32}$/.test(number ?? '')
    ? join(tmpdir(), `host-tools-check-${number}`)
    : undefined;
}

/** Notes that the hook runs. @returns whether there is a check. The hook then judges nothing. */
export function noteCheck(env: Readonly<Record<string, string | undefined>>): boolean {
  if (env[checkVariable] === undefined) return false;
  const file = checkFile(env[checkVariable]);
  try {
    if (file !== undefined) createFileSync(file, '', { durable: false });
  } catch {
    // An earlier hook has noted it.
  }
  return true;
}

/**
 * The task of the hook in this folder.
 * @param host The process. Words of its command line follow those of the task.
 * @returns the task, and the files of the guard
 * @throws Error that says what was changed, and what to do
 */
export function guardTask(
  host: NodeJS.Process,
  folder: string,
): { readonly task: HookTask; readonly files: ReadonlyMap<string, Buffer> } {
  const record = readRecord(folder);
  const files = verifiedFiles(folder, record);
  const rules = join(folder, guardFiles.rules);
  const parsed = files.get(parsedName)?.toString('utf8');
  const task = {
    argv: ['hook', record.agent, '--host-tools', rules, ...host.argv.slice(2)],
    env: host.env,
    cwd: host.cwd(),
    log: join(folder, auditName),
    ...(parsed === undefined ? {} : { known: { path: rules, content: JSON.parse(parsed) } }),
  };
  return { task, files };
}
