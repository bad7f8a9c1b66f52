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
export function concludeFile(file: string, { checks }: Pick<Findings, 'checks'>): ValidatedFile {
  const textsOf = (wanted: ValidateCheck['severity']): string[] =>
    checks
      .filter(({ severity, passed }) => severity === wanted && !passed)
      .map(
        ({ name, tool, message }) => `${name}${tool === undefined ? '' : ` (${tool})`}: ${message}`,
      );
  const errors = textsOf('error');
  return { file, passed: errors.length === 0, checks, errors, warnings: textsOf('warning') };
}

/**
 * Writes a report as lines: each file with its failed checks, then a summary. Text of validated
 * files is escaped, so it cannot move a terminal's cursor or fake a line.
 */
export function formatValidateReport(report: ValidateReport): string {
  const lines: string[] = [];
  for (const { file, passed, checks } of report.files) {
    const failed = checks.filter((check) => !check.passed);
    lines.push(
      `${passed ? 'passed' : 'FAILED'} ${oneLine(file)} (${countOf(checks.length, 'check')})`,
    );
    const rows = failed.map(({ name, severity, message, tool }) => [
      severity,
      name,
      oneLine(`${tool === undefined ? '' : `[${tool}] `}${message}`),
    ]);
    lines.push(...columns(rows, '  '));
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

function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function oneLine(text: string): string {
  return printable(text.replace(/\s*[\n\r\u2028\u2029]\s*/g, ' '));
}
