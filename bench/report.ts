/** The table, for a terminal and for the documentation. */
import { cpus } from 'node:os';
import { type FamilyResult, type Row, type Target, targets, verdictOf } from './targets.ts';

export interface Report {
  readonly rows: readonly Row[];
  readonly skipped: readonly string[];
}

export function gather(results: readonly FamilyResult[]): Report {
  return {
    rows: results.flatMap(({ rows }) => rows),
    skipped: results.flatMap(({ skipped }) => (skipped === undefined ? [] : [skipped])),
  };
}

const heads = ['what', 'against', 'measured', 'goal', 'gate', 'verdict', 'figures'];

function cells(row: Row): string[] {
  if (row.id === undefined)
    return [row.what ?? '', '', amount(row.value, row.unit ?? ''), '', '', '', row.note ?? ''];
  const { what, against, good, goal, gate, unit }: Target = targets[row.id];
  const sign = good === 'below' ? '≤' : '≥';
  return [
    what,
    against,
    amount(row.value, unit),
    `${sign} ${amount(goal, unit)}`,
    `${sign} ${amount(gate, unit)}`,
    verdictOf(row),
    row.note ?? '',
  ];
}

function amount(value: number, unit: string): string {
  const size = Math.abs(value);
  const text =
    Number.isInteger(value) || size >= 100
      ? Math.round(value).toString()
      : size >= 10
        ? value.toFixed(1)
        : value.toFixed(2);
  return `${text.replace(/\B(?=(\d{3})+$)/g, ' ')} ${unit}`.trim();
}

/** With judged rows first in their order, then what is only told. */
function ordered({ rows }: Report): string[][] {
  return [
    ...rows.filter(({ id }) => id !== undefined),
    ...rows.filter(({ id }) => id === undefined),
  ].map(cells);
}

export function terminalTable(report: Report): string {
  const table = [heads, ...ordered(report)];
  const widths = heads.map((_, column) =>
    Math.max(...table.map((line) => [...(line[column] ?? '')].length)),
  );
  const lines = table.map((line) =>
    line
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - [...cell].length))
      .join('  ')
      .trimEnd(),
  );
  return [
    lines[0],
    '-'.repeat(
      Math.min(
        160,
        widths.reduce((sum, width) => sum + width + 2, 0),
      ),
    ),
    ...lines.slice(1),
    ...report.skipped.map((line) => `skipped: ${line}`),
  ].join('\n');
}

export function markdownTable(report: Report, date: string): string {
  const line = (row: readonly string[]): string => `| ${row.join(' | ')} |`;
  const skipped = report.skipped.map((one) => `\nSkipped: ${one}\n`).join('');
  const rows = [line(heads), line(heads.map(() => '---')), ...ordered(report).map(line)];
  return (
    `Measured on ${date} with Node ${process.version}, ${process.platform} ${process.arch}, ` +
    `${cpus()[0]?.model ?? 'unknown processor'}.\n\n${rows.join('\n')}\n${skipped}`
  );
}

/** Rows beyond their gate. */
export function beyondGate({ rows }: Report): readonly Row[] {
  return rows.filter((row) => verdictOf(row) === 'MISSED');
}
