/** The report of `validate`, as data and as lines for people. */
import { columns, printable } from '../printable.ts';
import type { Findings, ValidateCheck } from './validate-checks.ts';

/** The report of one file. */
export interface ValidatedFile {
  /** The path, as given. */
  readonly file: string;
  /** Whether no check of severity `error` failed. Warnings do not count. */
  readonly passed: boolean;
  /** All checks, in order. */
  readonly checks: readonly ValidateCheck[];
  /**
   * The file's definitions, and where their calls run: `inline`, `external`, or the name that their
   * executor gives. Mounted tools are not listed, since only they know where they run.
   */
  readonly tools: readonly { readonly name: string; readonly executor: string }[];
  /** The failed checks of severity `error`, as `name (tool): message`. */
  readonly errors: readonly string[];
  /** The failed checks of severity `warning`, in the same form. */
  readonly warnings: readonly string[];
}

/** The whole report. */
export interface ValidateReport {
  /** Whether every file passed. */
  readonly passed: boolean;
  /** In the given order. A file that was given twice is listed once. */
  readonly files: readonly ValidatedFile[];
}

/** Makes the report of a file from its checks. */
export function concludeFile(
  file: string,
  { checks, places }: Pick<Findings, 'checks' | 'places'>,
): ValidatedFile {
  const textsOf = (wanted: ValidateCheck['severity']): string[] =>
    checks
      .filter(({ severity, passed }) => severity === wanted && !passed)
      .map(
        ({ name, tool, message }) => `${name}${tool === undefined ? '' : ` (${tool})`}: ${message}`,
      );
  const errors = textsOf('error');
  const tools = [...places].map(([name, executor]) => ({ name, executor }));
  return { file, passed: errors.length === 0, checks, tools, errors, warnings: textsOf('warning') };
}

/**
 * Writes a report as lines: each file with its failed checks, then a summary. Text of validated
 * files is escaped, so it cannot move a terminal's cursor or fake a line.
 */
export function formatValidateReport(report: ValidateReport): string {
  const lines: string[] = [];
  for (const { file, passed, checks, tools } of report.files) {
    const failed = checks.filter((check) => !check.passed);
    lines.push(
      `${passed ? 'passed' : 'FAILED'} ${oneLine(file)} (${countOf(checks.length, 'check')})`,
    );
    const rows = failed.map(({ name, severity, message, tool }) => [
      severity,
      name,
      oneLine(`${tool === undefined ? '' : `[${tool}] `}${message}`),
    ]);
    lines.push(...columns(rows, '  '), ...placeLines(tools));
  }
  const failed = report.files.filter(({ passed }) => !passed).length;
  const sum = (kind: 'errors' | 'warnings'): number =>
    report.files.reduce((total, file) => total + file[kind].length, 0);
  const verdict = failed === 0 ? 'passed' : `${failed} of them failed`;
  lines.push(
    `${countOf(report.files.length, 'file')}, ${verdict}: ${countOf(sum('errors'), 'error')}, ` +
      `${countOf(sum('warnings'), 'warning')}.`,
  );
  return lines.join('\n');
}

/** Which tools run where, unless all of them run in this process. */
function placeLines(tools: ValidatedFile['tools']): string[] {
  if (tools.every(({ executor }) => executor === 'inline')) return [];
  const names = new Map<string, string[]>();
  for (const { name, executor } of tools)
    names.set(executor, [...(names.get(executor) ?? []), oneLine(name)]);
  return [...names].map(([place, here]) => `  runs in ${place}: ${here.join(', ')}`);
}

function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function oneLine(text: string): string {
  return printable(text.replace(/\s*[\n\r\u2028\u2029]\s*/g, ' '));
}
