/** `audit report`: the summary of an audit log. */
import { resolve } from 'node:path';
import { messageOf } from '../errors/index.ts';
import { writeOutput } from '../files/whole-file.ts';
import { type LineHash, lineHash } from '../surfaces/audit/line.ts';
import { linesOf } from '../surfaces/audit/read-log.ts';
import { type AuditCheck, createCheck } from '../surfaces/audit/verify-audit.ts';
import { auditPage } from './audit-html.ts';
import { readKey, unreadable } from './audit-key.ts';
import { byCount, cut, mostDenied, noted, percent, slowest } from './audit-report-rows.ts';
import { type AuditSummary, createSummarizer } from './audit-summary.ts';
import { verdictText } from './audit-verify.ts';
import type { Command } from './command.ts';
import { failure, untilInterrupted } from './fault.ts';
import { printable } from './printable.ts';

/** Most rows of a table on a terminal. */
const mostRows = 10;

export const auditReport: Command = {
  name: 'audit report',
  usage: 'FILE [--html OUT] [--key-file KEY]',
  summary: 'summarise an audit log: calls, denials, slow tools, approvals',
  notes: [
    'FILE is the newest file. FILE.1, FILE.2, … are read too. OUT is one HTML file with charts.',
    'If the log is broken, the report says so first and the exit code is 1.',
  ],
  options: ['html', 'key-file'],
  operands: ['FILE'],
  async run({ io, options: { html, keyFile }, operands: [file = ''] }) {
    const hash = hashBy(await readKey(keyFile, io));
    const reading = read(resolve(io.cwd, file), hash);
    const { check, summary } = await untilInterrupted(reading, io.signal).catch(
      (error: unknown) => {
        throw unreadable(file, error);
      },
    );
    const verdict = verdictText(check, io.cwd);
    if (html !== undefined)
      await writeOutput(resolve(io.cwd, html), auditPage(file, check, verdict, summary)).catch(
        (error: unknown) => {
          throw failure(`Cannot write \`${html}\`: ${messageOf(error)}.`);
        },
      );
    const written = html === undefined ? [] : ['', `The report is in ${printable(html)}.`];
    return {
      exit: check.ok ? 0 : 1,
      text: [verdict, ...textOf(summary), ...written].join('\n'),
      json: { check, summary: jsonOf(summary) },
    };
  },
};

function hashBy(key: Buffer | undefined): LineHash {
  try {
    return lineHash('audit report', key);
  } catch (error) {
    throw failure(messageOf(error));
  }
}

/**
 * Reads a log once, for its chain and its sums. Lines after a break in the chain are counted too.
 */
async function read(
  path: string,
  hash: LineHash,
): Promise<{ readonly check: AuditCheck; readonly summary: AuditSummary }> {
  const chain = createCheck(hash);
  const sums = createSummarizer();
  for await (const raw of linesOf(path)) {
    const line = chain.add(raw);
    if (line !== undefined) sums.add(line.members);
  }
  return { check: chain.end(true), summary: sums.end() };
}

function jsonOf(summary: AuditSummary): object {
  const { byTool, deniedByRule, byReason, byPrincipal, approvers } = summary;
  const maps = { byTool, deniedByRule, byReason, byPrincipal, approvers };
  return {
    ...summary,
    ...Object.fromEntries(
      Object.entries(maps).map(([name, map]) => [name, Object.fromEntries<unknown>(map)]),
    ),
  };
}

function textOf(summary: AuditSummary): readonly string[] {
  const { calls, denied, byStatus, byTool, deniedByRule, byReason, approvers } = summary;
  const statuses = Object.entries(byStatus).map(([status, count]) => `${count} ${cut(status)}`);
  return [
    `${calls} ${calls === 1 ? 'call' : 'calls'}: ${statuses.join(', ') || 'none'}; ` +
      `${percent(denied, calls)} denied.`,
    ...noted(summary),
    ...section('Tools', ['calls', 'denied', 'rate'], mostDenied(summary), (tool) => [
      String(tool.calls),
      String(tool.denied),
      percent(tool.denied, tool.calls),
    ]),
    ...section('Slowest tools', ['mean ms', 'longest ms'], slowest(summary), ({ durationMs }) => [
      (durationMs.sum / durationMs.count).toFixed(1),
      durationMs.max.toFixed(1),
    ]),
    ...section('Denied by', ['calls'], byCount(deniedByRule), (count) => [String(count)]),
    ...section('Reasons', ['calls'], byCount(byReason), (count) => [String(count)]),
    ...section('Approvals by', ['allowed', 'rejected'], [...approvers], (person) => [
      String(person.allowed),
      String(person.rejected),
    ]),
    ...(byTool.size > mostRows ? ['', `${byTool.size} tools in all; --json has every one.`] : []),
  ];
}

function section<T>(
  title: string,
  columns: readonly string[],
  rows: readonly (readonly [string, T])[],
  cells: (row: T) => readonly string[],
): readonly string[] {
  if (rows.length === 0) return [];
  const shown = rows.slice(0, mostRows).map(([name, row]) => [cut(name) || '""', ...cells(row)]);
  const table = [[title, ...columns], ...shown];
  const widths = table[0]?.map((_, at) => Math.max(...table.map((row) => row[at]?.length ?? 0)));
  return [
    '',
    ...table.map((row) =>
      row
        .map((cell, at) =>
          at === 0 ? cell.padEnd(widths?.[at] ?? 0) : cell.padStart(widths?.[at] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    ),
  ];
}
