/** The rows that the text and the page of a report have in common, in their order. */
import type { AuditSummary, ToolSummary } from './audit-summary.ts';
import { printable } from './printable.ts';

/** Most calls without an end that are named. */
const maxNamed = 10;

/** A name from the log, safe on a terminal, in at most `most` characters. */
export function cut(name: string, most = 60): string {
  const chars = [...printable(name.slice(0, 2 * most))];
  return chars.length > most ? `${chars.slice(0, most - 1).join('')}…` : chars.join('');
}

/** The facts that a reader must not overlook. */
export function noted(summary: AuditSummary): readonly string[] {
  const { openStarts, dropped, recovered, unanswered, refusedResumes } = summary;
  const began = openStarts.filter((call) => !call.asked);
  const asked = openStarts.filter((call) => call.asked);
  const some = (count: number, one: string, many: string): readonly string[] =>
    count === 0 ? [] : [count === 1 ? `1 ${one}` : `${count} ${many}`];
  return [
    ...some(unanswered, 'approval has no answer.', 'approvals have no answer.'),
    ...some(refusedResumes, 'resume was refused.', 'resumes were refused.'),
    ...some(dropped, 'line was lost,', 'lines were lost,').map(
      (line) => `${line} because too many were waiting, or calls ran when the log was closed.`,
    ),
    ...some(recovered, 'process', 'processes').map(
      (line) => `${line} ended without closing the log.`,
    ),
    ...some(began.length, 'call started and has no end:', 'calls started and have no end:'),
    ...named(began),
    ...some(asked.length, 'call was asked about', 'calls were asked about').map(
      (line) => `${line} without an end: not allowed, or a coding agent did not say how it ended:`,
    ),
    ...named(asked),
  ];
}

function named(starts: AuditSummary['openStarts']): readonly string[] {
  return starts
    .slice(0, maxNamed)
    .map(
      ({ at, tool, callId, sessionId }) =>
        `  ${new Date(at).toISOString()} ${cut(tool)}, call ${cut(callId)} of ${cut(sessionId)}`,
    );
}

/** The tools with the most denials, then the most calls, first. */
export function maxDenied({ byTool }: AuditSummary): [string, Readonly<ToolSummary>][] {
  return [...byTool].sort(([, a], [, b]) => b.denied - a.denied || b.calls - a.calls);
}

/** The tools that ran, the slowest on average first. */
export function slowest({ byTool }: AuditSummary): [string, Readonly<ToolSummary>][] {
  return [...byTool]
    .filter(([, { durationMs }]) => durationMs.count > 0)
    .sort(([, { durationMs: a }], [, { durationMs: b }]) => b.sum / b.count - a.sum / a.count);
}

export function byCount(map: ReadonlyMap<string, number>): [string, number][] {
  return [...map].sort(([, a], [, b]) => b - a);
}

/** A share in per cent, with one decimal. */
export function percent(part: number, whole: number): string {
  return `${whole === 0 ? '0' : ((100 * part) / whole).toFixed(1).replace(/\.0$/, '')} %`;
}
