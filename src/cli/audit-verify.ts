/** `audit verify`: checks that no line of an audit log was changed, removed or added. */
import { resolve } from 'node:path';
import { type AuditCheck, verifyAudit } from '../surfaces/audit/index.ts';
import { readKey, unreadable } from './audit-key.ts';
import type { Command } from './command.ts';
import { untilInterrupted, usageFault } from './fault.ts';
import { printable } from './printable.ts';
import { shownPath } from './shown-path.ts';

export const auditVerify: Command = {
  name: 'audit verify',
  usage: 'FILE [--head HASH] [--key-file KEY]',
  summary: 'check that no line of an audit log was changed, removed or added',
  notes: [
    'FILE is the newest file. FILE.1, FILE.2, … are read too. Line 1 is the first line of the ' +
      'oldest.',
    'The exit code is 1 if a line is wrong.',
  ],
  options: ['head', 'key-file'],
  operands: ['FILE'],
  async run({ io, options: { head, keyFile }, operands: [file = ''] }) {
    if (head !== undefined && !/^[0-9a-f]{64}$/.test(head))
      throw usageFault(
        `Expected \`--head\` to be a hash of 64 hex digits, got \`${head.slice(0, 80)}\`.`,
      );
    const key = await readKey(keyFile, io);
    const checking = verifyAudit(resolve(io.cwd, file), { head, key });
    const check = await untilInterrupted(checking, io.signal).catch((error: unknown) => {
      throw unreadable(file, error);
    });
    return { exit: check.ok ? 0 : 1, text: verdictText(check, io.cwd), json: check };
  },
};

/** The result, in one line. */
export function verdictText(
  { ok, lines, brokenAt, file, reason }: AuditCheck,
  cwd: string,
): string {
  if (ok) return `${lines} ${lines === 1 ? 'line' : 'lines'}, all as written.`;
  const where = file === undefined ? '' : ` (${printable(shownPath(file, cwd))})`;
  return `Broken at line ${brokenAt} of ${lines}${where}: ${reason}.`;
}
