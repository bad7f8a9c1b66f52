/** `audit verify`: checks that no line of an audit log was changed, removed or added. */
import { resolve } from 'node:path';
import { type AuditCheck, verifyAudit } from '../surfaces/audit/index.ts';
import { distinct, noteSiblings, readKey, unreadable } from './audit-files.ts';
import type { Command } from './command.ts';
import { untilInterrupted, usageFault } from './fault.ts';
import { printable } from './printable.ts';
import { shownPath } from './shown-path.ts';

export const auditVerify: Command = {
  name: 'audit verify',
  usage: 'FILE... [--head HASH] [--key-file KEY]',
  summary: 'check that no line of an audit log was changed, removed or added',
  notes: [
    'FILE is the newest file. FILE.1, FILE.2, … are read too. Line 1 is the first line of the ' +
      'oldest.',
    'Several FILEs are logs of their own, such as those of several processes.',
    'The exit code is 1 if a line is wrong.',
  ],
  options: ['head', 'key-file'],
  operands: ['FILE'],
  many: true,
  async run({ io, screen, options: { head, keyFile }, operands }) {
    if (head !== undefined && !/^[0-9a-f]{64}$/.test(head))
      throw usageFault(
        `Expected \`--head\` to be a hash of 64 hex digits, got \`${head.slice(0, 80)}\`.`,
      );
    const files = distinct(operands, io.cwd);
    if (head !== undefined && files.length > 1)
      throw usageFault('`--head` belongs to one log: verify that FILE alone.');
    const key = await readKey(keyFile, io);
    const checks: (readonly [string, AuditCheck])[] = [];
    for (const file of files) {
      const checking = verifyAudit(resolve(io.cwd, file), { head, key });
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
