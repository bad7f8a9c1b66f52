/** What `validate` reports: as data, and as lines for people. */
import { columns, printable } from '../printable.ts';
import type { Findings, ValidateCheck } from './validate-checks.ts';

/** What was found out about one file. */
export interface ValidatedFile {
  /** As it was given. */
  readonly file: string;
  /** No check of severity `error` failed; warnings are fine. */
  readonly passed: boolean;
  /** Every check that was made, in order. */
  readonly checks: readonly ValidateCheck[];
  /** The failed checks of severity `error`, as `name (tool): message`. */
  readonly errors: readonly string[];
  /** The failed checks of severity `warning`, in the same form. */
  readonly warnings: readonly string[];
}

/** What was found out. */
export interface ValidateReport {
  /** Every file passed. */
  readonly passed: boolean;
  /** In the order given; a file that was given twice is here once. */
  readonly files: readonly ValidatedFile[];
}

/** The verdict over a file's checks. */
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
 * Writes a report as lines: each file with what failed in it, then a summary. What was validated
 * cannot move a terminal's cursor or feign a line.
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
