/** `audit report`: the summary of an audit log. */
import { resolve } from 'node:path';
import type { Store } from '../extend.ts';
import { type LineHash, type LineMembers, lineHash } from '../surfaces/audit/line.ts';
import { linesOf, type RawLine } from '../surfaces/audit/open-log.ts';
import { entriesOf, rawLine } from '../surfaces/audit/store-chains.ts';
import { type ChainCheck, createCheck, verifyAudit } from '../surfaces/audit/verify-audit.ts';
import { messageOf } from '../values/errors/index.ts';
import { writeOutput } from '../values/files/whole-file.ts';
import { auditPage, byCount, cut, maxDenied, noted, percent, slowest } from './audit-html.ts';
import { type AuditSummary, createSummarizer } from './audit-summary.ts';
import {
  checkPlace,
  checksJson,
  distinct,
  noteSiblings,
  readKey,
  storedText,
  storeWording,
  unreadable,
  verdictsText,
  withStore,
} from './audit-verify.ts';
import type { CliIo } from './cli-io.ts';
import type { Command } from './command.ts';
import { failure, untilInterrupted } from './fault.ts';
import { printable } from './printable.ts';
import type { Screen } from './screen.ts';
import { addressOf } from './store/open-store.ts';

/** Most rows of a table on a terminal. */
const maxRows = 10;

export const auditReport: Command = {
  name: 'audit report',
  usage: 'FILE...|--store URL [--html OUT] [--key-file KEY]',
  summary: 'summarise an audit log: calls, denials, slow tools, approvals',
  notes: [
    'FILE is the newest file. FILE.1, FILE.2, … are read too. OUT is one HTML file with charts.',
    'Several FILEs are logs of their own, such as those of several processes.',
    'With --store, it is about the log in that store: the calls of all processes that write it.',
    'If a log is broken, the report says so first and the exit code is 1.',
  ],
  options: ['store', 'html', 'key-file'],
  wording: storeWording,
  operands: ['[FILE]'],
  many: true,
  async run({ io, screen, options, operands }) {
    const { store } = options;
    const { html, keyFile } = options.log;
    checkPlace('audit report', store, operands);
    const key = await readKey(keyFile, io);
    const report =
      store === undefined
        ? await reportOfFiles(distinct(operands, io.cwd), key, io, screen)
        : await withStore(store, io, screen, (opened) =>
            reportOfStore(opened, addressOf('--store', store, io).shown, key),
          );
    const { name, ok, verdict, summary, check } = report;
    if (html !== undefined)
      await writeOutput(resolve(io.cwd, html), auditPage(name, ok, verdict, summary)).catch(
        (error: unknown) => {
          throw failure(`Cannot write \`${html}\`: ${messageOf(error)}.`);
        },
      );
    const written = html === undefined ? [] : ['', `The report is in ${printable(html)}.`];
    return {
      exit: ok ? 0 : 1,
      text: [verdict, ...textOf(summary), ...written].join('\n'),
      json: { check, summary: jsonOf(summary) },
    };
  },
};

/** What a report says, and about which log. */
interface Report {
  readonly name: string;
  readonly ok: boolean;
  readonly verdict: string;
  readonly summary: AuditSummary;
  /** For `--json`. */
  readonly check: unknown;
}

async function reportOfFiles(
  files: readonly string[],
  key: Buffer | undefined,
  io: CliIo,
  screen: Screen,
): Promise<Report> {
  const hash = hashBy(key);
  const logs = files.map((file) => {
    const chain = createCheck(hash);
    const lines = membersOf(linesOf(resolve(io.cwd, file)), chain, (error) => {
      throw unreadable(file, error);
    });
    return { file, chain, lines };
  });
  const summary = await untilInterrupted(read(logs), io.signal);
  noteSiblings(files, io.cwd, screen);
  const checks = logs.map(({ file, chain }) => [file, chain.end(true)] as const);
  return {
    name: files.join(', '),
    ok: checks.every(([, check]) => check.ok),
    verdict: verdictsText(checks, io.cwd),
    summary,
    check: checksJson(checks),
  };
}

/** Reads the log twice: for its chains, and for the sums of all chains in the order of time. */
async function reportOfStore(store: Store, name: string, key: Buffer | undefined): Promise<Report> {
  const hash = hashBy(key);
  const check = await verifyAudit({ store, key });
  const logs = (check.heads ?? []).map(({ chain = 1 }) => ({
    lines: membersOf(storedLines(store, chain), createCheck(hash)),
  }));
  const summary = await read(logs);
  return { name, ok: check.ok, verdict: storedText(check), summary, check };
}

async function* storedLines(store: Store, chain: number): AsyncGenerator<RawLine> {
  for await (const entry of entriesOf(store, chain)) yield rawLine(entry);
}

function hashBy(key: Buffer | undefined): LineHash {
  try {
    return lineHash('audit report', key);
  } catch (error) {
    throw failure(messageOf(error));
  }
}

/** A log that is being read. */
interface OpenLog {
  readonly lines: AsyncIterator<LineMembers, void, undefined>;
}

/** The lines that can be read, also those after a break in the chain. */
async function* membersOf(
  raws: AsyncIterable<RawLine>,
  chain: ChainCheck,
  failed?: (error: unknown) => never,
): AsyncGenerator<LineMembers, void, undefined> {
  try {
    for await (const raw of raws) {
      const line = chain.add(raw);
      if (line !== undefined) yield line.members;
    }
  } catch (error) {
    failed?.(error);
    throw error;
  }
}

/** Merges the logs by time, since a call may be suspended in one and resumed in another. */
async function read(logs: readonly OpenLog[]): Promise<AuditSummary> {
  const sums = createSummarizer();
  const next = new Map<OpenLog, LineMembers>();
  const advance = async (log: OpenLog): Promise<void> => {
    const { done, value } = await log.lines.next();
    if (done === true) next.delete(log);
    else next.set(log, value);
  };
  for (const log of logs) await advance(log);
  while (next.size > 0) {
    const [log, line] = [...next].reduce((one, other) =>
      isBefore(other[1], one[1]) ? other : one,
    );
    sums.add(line);
    await advance(log);
  }
  return sums.end();
}

/** A line without a time is taken first. */
function isBefore(one: LineMembers, other: LineMembers): boolean {
  const time = ({ at }: LineMembers): number => (typeof at === 'number' ? at : -Infinity);
  return time(one) < time(other);
}

function jsonOf(summary: AuditSummary): object {
  const { byTool, deniedByRule, byReason, byPrincipal, byAgent, approvers } = summary;
  const maps = { byTool, deniedByRule, byReason, byPrincipal, byAgent, approvers };
  return {
    ...summary,
    ...Object.fromEntries(
      Object.entries(maps).map(([name, map]) => [name, Object.fromEntries<unknown>(map)]),
    ),
  };
}

function textOf(summary: AuditSummary): readonly string[] {
  const { calls, denied, byStatus, byTool, deniedByRule, byReason } = summary;
  const { byAgent, approvers } = summary;
  const statuses = Object.entries(byStatus).map(([status, count]) => `${count} ${cut(status)}`);
  return [
    `${calls} ${calls === 1 ? 'call' : 'calls'}: ${statuses.join(', ') || 'none'}; ` +
      `${percent(denied, calls)} denied.`,
    ...noted(summary),
    ...section('Tools', ['calls', 'denied', 'rate'], maxDenied(summary), (tool) => [
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
    ...section('Agents', ['calls'], byCount(byAgent), (count) => [String(count)]),
    ...section('Approvals by', ['allowed', 'rejected'], [...approvers], (person) => [
      String(person.allowed),
      String(person.rejected),
    ]),
    ...(byTool.size > maxRows ? ['', `${byTool.size} tools in all; --json has every one.`] : []),
  ];
}

function section<T>(
  title: string,
  columns: readonly string[],
  rows: readonly (readonly [string, T])[],
  cells: (row: T) => readonly string[],
): readonly string[] {
  if (rows.length === 0) return [];
  const shown = rows.slice(0, maxRows).map(([name, row]) => [cut(name) || '""', ...cells(row)]);
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
