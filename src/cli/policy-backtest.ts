/**
 * `policy backtest`: shows which recorded calls would be decided differently by the rules of a file
 * than by those that are loaded. No handler runs.
 */
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { registryStateOf } from '../core/registry/state-of.ts';
import { isMisuseError, type Rule } from '../core.ts';
import { everyQuota } from '../parts/quotas/quota-state.ts';
import type { BacktestRecord, BacktestResult, BacktestSummary } from '../surfaces/policy/index.ts';
import { auditFormat } from '../surfaces/policy/records/audit-format.ts';
import { messageOf } from '../values/errors/index.ts';
import type { JsonObject } from '../values/json/index.ts';
import type { CliIo } from './cli-io.ts';
import type { Command } from './command.ts';
import { failure, untilInterrupted, usageFault } from './fault.ts';
import { columns, printable } from './printable.ts';
import { requireFile } from './read-text.ts';
import type { Screen } from './screen.ts';
import type { World } from './world.ts';

/** Most changed calls that the text shows. */
const maxRows = 1_000;
/** Most names that a line of the text lists. */
const maxNames = 20;
/** Most bytes in which the first line is searched. */
const longestLine = 4_194_304;

export const policyBacktest: Command = {
  name: 'policy backtest',
  usage: '--from FILE --rules FILE',
  summary: 'show which recorded calls new rules would decide differently; nothing runs',
  notes: [
    '--from is an audit log, with all of its files, or has one record per line, a list of ' +
      'records, or',
    'a tape. A record is { toolName, input, callId?, principal?, facts?, at?, sessionId?, ' +
      'surface?,',
    'profile? }.',
    'The `rules` of --rules replace those that --host-tools loads.',
    'The exit code is 1 if a call changes to the effect that --fail-on names.',
  ],
  options: ['host-tools', 'host-tools-module', 'from', 'rules', 'fail-on'],
  operands: [],
  async run({ io, screen, world, options }) {
    const { rules: rulesFile } = options;
    const { from, failOn } = options.policy;
    if (from === undefined || rulesFile === undefined)
      throw usageFault(
        `\`policy backtest\` needs \`--${from === undefined ? 'from FILE' : 'rules FILE'}\`.`,
      );
    const after = await rulesOf(rulesFile, io, screen);
    if (from !== '-')
      await requireFile(from, io).catch((error: unknown) => {
        throw failure(`Cannot read \`${from}\`: ${messageOf(error)}.`);
      });
    const loaded = await world();
    loaded.requireRules();
    const result = await compare(loaded, after, from, io);
    const failed = result.summary.changes.some((change) => change.after === failOn);
    const hasQuotas = everyQuota(registryStateOf(loaded.registry)).length > 0;
    const hint = loaded.codeHint(result.unknown);
    const text = textOf(result, hasQuotas, hint);
    return { exit: failed ? 1 : 0, text, json: result };
  },
};

async function rulesOf(file: string, io: CliIo, screen: Screen): Promise<readonly Rule[]> {
  await requireFile(file, io).catch((error: unknown) => {
    throw failure(`Cannot read \`${file}\`: ${messageOf(error)}.`);
  });
  const { readRules } = await import('../surfaces/config/read-rules.ts');
  const { rules, others } = await readRules(resolve(io.cwd, file)).catch((error: unknown) => {
    throw isMisuseError(error) ? failure(error.message) : error;
  });
  if (others.length > 0)
    screen.note(`Only the rules of \`${file}\` are used; its ${others.join(' and ')} are not.`);
  return rules;
}

async function compare(
  { registry }: World,
  after: readonly Rule[],
  from: string,
  io: CliIo,
): Promise<BacktestResult> {
  const { backtest } = await import('../surfaces/policy/index.ts');
  const records = from === '-' ? sentRecords(io) : fileRecords(resolve(io.cwd, from), from);
  try {
    return await untilInterrupted(backtest(records, { registry, after }), io.signal);
  } catch (error) {
    throw isMisuseError(error) ? failure(error.message) : error;
  }
}

async function* sentRecords(io: CliIo): AsyncGenerator<BacktestRecord> {
  const { readRecords } = await import('../surfaces/policy/index.ts');
  const chunks = io.stdin as AsyncIterable<string | Uint8Array>;
  yield* readRecords(chunks, { name: 'standard input' });
}

/** The records of a file. An audit log includes its older files, oldest first. */
async function* fileRecords(path: string, from: string): AsyncGenerator<BacktestRecord> {
  const { readRecords } = await import('../surfaces/policy/index.ts');
  const { filesOf } = await import('../surfaces/audit/open-log.ts');
  for (const file of (await isAuditLog(path)) ? filesOf(path) : [path]) {
    const handle = await open(file, 'r');
    try {
      const chunks = handle.createReadStream({ autoClose: false });
      yield* readRecords(chunks, { name: `${from}${file.slice(path.length)}` });
    } finally {
      await handle.close();
    }
  }
}

async function isAuditLog(path: string): Promise<boolean> {
  const handle = await open(path, 'r');
  try {
    for await (const line of handle.readLines({ end: longestLine }))
      return auditFormat.fits(JSON.parse(line) as JsonObject);
    return false;
  } catch {
    return false;
  } finally {
    await handle.close();
  }
}

function textOf(
  { calls, changed, unknown, byRule, summary }: BacktestResult,
  quotas: boolean,
  hint: string | undefined,
) {
  const rows = changed
    .slice(0, maxRows)
    .map(({ callId, toolName, before, after, ruleId = '' }) =>
      [callId, toolName, before, after, ruleId].map(printable),
    );
  const rules = Object.entries(byRule);
  return [
    ...(rows.length === 0 ? [] : columns([['CALL', 'TOOL', 'BEFORE', 'AFTER', 'RULE'], ...rows])),
    ...(rows.length === summary.changed ? [] : [`… and ${summary.changed - rows.length} more.`]),
    changesLine(calls, summary),
    ...notJudged(summary, unknown),
    ...(hint === undefined ? [] : [hint]),
    ...doubts(summary, quotas),
    ...rules
      .filter(([, { shadow }]) => shadow > 0)
      .map(
        ([id, { shadow }]) =>
          `The shadow rule ${printable(id)} would decide ${counted(shadow, 'call')} differently.`,
      ),
    ...unmatched(rules.filter(([, { matched, changed: made }]) => matched + made === 0)),
  ].join('\n');
}

/** `120 calls, 3 decided differently: 2 from allow to ask, 1 from allow to deny.` */
function changesLine(calls: number, { changed, changes }: BacktestSummary): string {
  const differing = changed === 0 ? 'none' : changed;
  const start = `${counted(calls, 'call')}, ${differing} decided differently`;
  const parts = changes.map(({ before, after, calls: n }) =>
    before === after ? `${n} ${after} others` : `${n} from ${before} to ${after}`,
  );
  return `${start}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}.`;
}

function notJudged({ unknown, invalid }: BacktestSummary, names: readonly string[]): string[] {
  const parts = [
    ...(unknown === 0 ? [] : [`${unknown} of unknown tools (${listed(names)})`]),
    ...(invalid === 0 ? [] : [`${invalid} with arguments that are refused before any rule`]),
  ];
  return parts.length === 0 ? [] : [`Not judged: ${parts.join(', ')}.`];
}

/** What to keep in mind about the judged calls. */
function doubts(
  { redacted, unasked, untimed, unordered }: BacktestSummary,
  quotas: boolean,
): string[] {
  const line = (count: number, text: string): string[] =>
    count === 0 ? [] : [`${counted(count, 'call')} ${text}`];
  return [
    ...line(redacted, 'with `[redacted]` in the arguments: the rules saw that text.'),
    ...line(unasked, 'about which code of the host decides too, which was not asked.'),
    ...line(quotas ? untimed : 0, 'without a time: quotas took that of the call before.'),
    ...line(quotas ? unordered : 0, 'earlier than the one before: quotas took the later time.'),
  ];
}

function unmatched(rules: readonly (readonly [string, unknown])[]): string[] {
  return rules.length === 0 ? [] : [`No call matched: ${listed(rules.map(([id]) => id))}.`];
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, maxNames).map(printable).join(', ');
  return names.length > maxNames ? `${shown} and ${names.length - maxNames} more` : shown;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
