/**
 * `audit verify`: checks that no line of an audit log was changed, removed or added. Also how the
 * commands on audit logs find the logs and the key.
 */

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Store } from '../extend.ts';
import { type AuditCheck, verifyAudit } from '../surfaces/audit/index.ts';
import { siblingsOf } from '../surfaces/audit/log-files.ts';
import { messageOf } from '../values/errors/index.ts';
import type { CliIo } from './cli-io.ts';
import type { Command } from './command.ts';
import { CliFault, failure, untilInterrupted, usageFault } from './fault.ts';
import { printable, shownPath } from './printable.ts';
import type { Screen } from './screen.ts';
import { addressOf, openAddress } from './store/open-store.ts';

/** How help describes `--store` in the commands on audit logs. */
export const storeWording = {
  store: {
    value: 'URL|VARIABLE',
    help: 'the store with the log, instead of FILE: its address, or the variable that has one',
  },
} as const;

export const auditVerify: Command = {
  name: 'audit verify',
  usage: 'FILE...|--store URL [--head HASH] [--key-file KEY]',
  summary: 'check that no line of an audit log was changed, removed or added',
  notes: [
    'FILE is the newest file. FILE.1, FILE.2, … are read too. Line 1 is the first line of the ' +
      'oldest.',
    'Several FILEs are logs of their own, such as those of several processes.',
    'With --store, all chains of the log in that store are checked. Keep the hashes that it ' +
      'prints elsewhere, and give each with --head the next time.',
    'The exit code is 1 if a line is wrong.',
  ],
  options: ['store', 'head', 'key-file'],
  wording: storeWording,
  operands: ['[FILE]'],
  many: true,
  async run({ io, screen, options, operands }) {
    const { store } = options;
    const { heads, keyFile } = options.log;
    const wrong = heads.find((head) => !/^[0-9a-f]{64}$/.test(head));
    if (wrong !== undefined)
      throw usageFault(
        `Expected \`--head\` to be a hash of 64 hex digits, got \`${wrong.slice(0, 80)}\`.`,
      );
    checkPlace('audit verify', store, operands);
    const files = distinct(operands, io.cwd);
    if (store === undefined && (files.length > 1 ? heads.length > 0 : heads.length > 1))
      throw usageFault('`--head` belongs to one log: verify that FILE alone, with one `--head`.');
    const key = await readKey(keyFile, io);
    if (store !== undefined) {
      const check = await withStore(store, io, screen, (opened) =>
        verifyAudit({ store: opened, heads, key }),
      );
      return { exit: check.ok ? 0 : 1, text: storedText(check), json: check };
    }
    const checks: (readonly [string, AuditCheck])[] = [];
    for (const file of files) {
      const checking = verifyAudit(resolve(io.cwd, file), { head: heads[0], key });
      const check = await untilInterrupted(checking, io.signal).catch((error: unknown) => {
        throw unreadable(file, error);
      });
      checks.push([file, check]);
    }
    noteSiblings(files, io.cwd, screen);
    return {
      exit: checks.every(([, { ok }]) => ok) ? 0 : 1,
      text: verdictsText(checks, io.cwd),
      json: checksJson(checks),
    };
  },
};

/** @throws CliFault 2 unless there are files or a store, and not both */
export function checkPlace(
  name: string,
  store: string | undefined,
  files: readonly string[],
): void {
  if ((store === undefined) === (files.length === 0))
    throw usageFault(
      `\`${name}\` needs FILE or \`--store URL\`${files.length === 0 ? '' : ', and not both'}.`,
    );
}

/** Reads the log of a store. @throws CliFault */
export async function withStore<T>(
  given: string,
  io: CliIo,
  screen: Screen,
  read: (store: Store) => Promise<T>,
): Promise<T> {
  const address = addressOf('--store', given, io);
  const opened = await openAddress(address, io, screen, 'need');
  try {
    if (opened.store === undefined)
      throw usageFault(
        '`--store`: a folder has no audit log. Give the file of the log as FILE instead.',
      );
    return await untilInterrupted(read(opened.store), io.signal);
  } catch (error) {
    throw error instanceof CliFault
      ? error
      : failure(`Cannot read the store at ${address.shown}: ${messageOf(error)}`);
  } finally {
    await opened.close();
  }
}

/** The result of a log in a store, with what to keep for the next check. */
export function storedText({ ok, lines, heads = [], ...check }: AuditCheck): string {
  const chains = heads.length === 1 ? '1 chain' : `${heads.length} chains`;
  const all = `${lines} ${lines === 1 ? 'line' : 'lines'} in ${chains}`;
  const { chain, brokenAt, reason } = check;
  const place = chain === undefined ? '' : ` at line ${brokenAt} of chain ${chain}`;
  return [
    ok ? `${all}, all as written.` : `Broken${place}: ${reason}. ${all}.`,
    ...heads.map(
      ({ chain: number, seq, hash }) => `chain ${number} ends with line ${seq}: ${hash}`,
    ),
  ].join('\n');
}

/** The result of each log, in one line. */
export function verdictsText(
  checks: readonly (readonly [string, AuditCheck])[],
  cwd: string,
): string {
  return checks
    .map(([log, check]) =>
      checks.length === 1
        ? verdictText(check, cwd)
        : `${printable(log)}: ${verdictText(check, cwd)}`,
    )
    .join('\n');
}

/** The result of one log, or a list with the name of each. */
export function checksJson(checks: readonly (readonly [string, AuditCheck])[]): unknown {
  return checks.length === 1 ? checks[0]?.[1] : checks.map(([log, check]) => ({ log, ...check }));
}

/** The result, in one line. */
function verdictText({ ok, lines, brokenAt, file, reason }: AuditCheck, cwd: string): string {
  if (ok) return `${lines} ${lines === 1 ? 'line' : 'lines'}, all as written.`;
  const where = file === undefined ? '' : ` (${printable(shownPath(file, cwd))})`;
  return `Broken at line ${brokenAt} of ${lines}${where}: ${reason}.`;
}

// What the commands on audit logs read: the logs, and the key.

/** The paths, each log once. */
export function distinct(paths: readonly string[], cwd: string): readonly string[] {
  return [...new Map(paths.map((path) => [resolve(cwd, path), path])).values()];
}

/** Names the logs that other processes wrote beside those that are read. */
export function noteSiblings(paths: readonly string[], cwd: string, screen: Screen): void {
  const given = new Set(paths.map((path) => resolve(cwd, path)));
  const others = [...given].flatMap(siblingsOf).filter((path) => !given.has(path));
  if (others.length === 0) return;
  const names = [...new Set(others)].map((path) => `\`${printable(shownPath(path, cwd))}\``);
  screen.note(`Not read: ${names.join(', ')}, which other processes wrote. Give them as well.`);
}

/** The key in a file, without a line break at its end; undefined if no file is given. */
export async function readKey(file: string | undefined, io: CliIo): Promise<Buffer | undefined> {
  if (file === undefined) return undefined;
  const bytes = await readFile(resolve(io.cwd, file)).catch((error: unknown) => {
    throw failure(`Cannot read \`${file}\`: ${messageOf(error)}.`);
  });
  let end = bytes.length;
  if (bytes[end - 1] === 0x0a) end--;
  if (bytes[end - 1] === 0x0d) end--;
  return bytes.subarray(0, end);
}

/** Why a log cannot be read, as one line. */
export function unreadable(file: string, error: unknown): Error {
  const { code } = error as { code?: unknown };
  const why = code === 'ENOENT' || code === 'ENOTDIR' ? 'there is no such file' : messageOf(error);
  return failure(`Cannot read \`${file}\`: ${why.replace(/\.$/, '')}.`);
}
