/** Validates files of tools, one after the other, and reports the checks. */
import { resolve } from 'node:path';
import { type AnyTool, isMisuseError, type JsonObject, MisuseError } from '../../core.ts';
import { createDefinition } from '../../extend.ts';
import { HostToolRegistry } from '../../index.ts';
import {
  abortSignal,
  arrayOf,
  duration,
  flag,
  object,
  readOptions,
  type TableOf,
  text,
  withDefault,
} from '../../values/options/index.ts';
import { columns, printable } from '../printable.ts';
import { createFindings, type Findings, textOf, type ValidateCheck } from './validate-checks.ts';
import { checkFile } from './validate-file.ts';
import { guardProcess } from './validate-process-guard.ts';
import type { ToolCheckOptions } from './validate-tool.ts';

export type { CheckName, CheckSeverity, ValidateCheck } from './validate-checks.ts';

/** Options of {@link validateFiles}. */
export interface ValidateOptions {
  /** The folder that relative paths start from. @default the process's working directory */
  readonly cwd?: string | undefined;
  /**
   * Maximum milliseconds for each import, `mount`, clean-up and call. Above 0 and at most 2^31-1.
   * @default 5_000
   */
  readonly timeoutMs?: number | undefined;
  /** Whether mounted tools are called with input that their own schema refuses. @default true */
  readonly behaviour?: boolean | undefined;
  /** The configuration that each module's `mount` gets a copy of. @default {} */
  readonly config?: JsonObject | undefined;
  /**
   * Modules whose tools a host-tools file may name: paths from the process's working directory, or
   * packages. They are loaded before the file, and not checked.
   * @default []
   */
  readonly modules?: readonly string[] | undefined;
  /**
   * Ends the run. The process is no longer watched, and the promise rejects with the signal's
   * reason. @default never
   */
  readonly signal?: AbortSignal | undefined;
}

const validateTable = {
  cwd: text(),
  timeoutMs: withDefault(duration, 5_000),
  behaviour: withDefault(flag, true),
  config: withDefault(object<JsonObject>(), {}),
  modules: withDefault(arrayOf(text(), 'paths or packages'), []),
  signal: abortSignal,
} satisfies TableOf<ValidateOptions>;

/**
 * Checks files, one after the other. Modules are imported into this process and their `mount` or
 * `setupHostTools` runs, so validate only what you would also load. Exceptions, unhandled
 * rejections and calls to `process.exit` are in the report. A loop that never yields cannot be
 * stopped. Rejects with a MisuseError `invalid_option` without a file or with a wrong option, and
 * with the signal's reason if `signal` aborts.
 */
export async function validateFiles(
  files: readonly string[],
  options?: ValidateOptions,
): Promise<ValidateReport> {
  if (files.length === 0)
    throw new MisuseError('invalid_option', 'validate: expected at least one file, got none.');
  const {
    cwd = process.cwd(),
    timeoutMs,
    behaviour,
    config,
    modules,
    signal,
  } = readOptions('validate', options, validateTable);
  const paths = new Map<string, string>();
  for (const file of files) {
    const path = resolve(cwd, file);
    if (!paths.has(path)) paths.set(path, file);
  }
  const twins = createTwinCheck();
  const validated: ValidatedFile[] = [];
  for (const [path, file] of paths) {
    const findings = createFindings();
    signal?.throwIfAborted();
    const checked = { timeoutMs, behaviour, config, modules };
    const names = await checkGuarded(path, findings, checked, signal);
    twins.check(names, file, findings);
    validated.push(concludeFile(file, findings));
  }
  await twins.close();
  signal?.throwIfAborted();
  return { passed: validated.every(({ passed }) => passed), files: validated };
}

async function checkGuarded(
  path: string,
  findings: Findings,
  options: ToolCheckOptions,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const guard = guardProcess(signal);
  let names: readonly string[] = [];
  try {
    names = await checkFile(path, findings, options);
  } catch (error) {
    // Even a hostile module gets a report.
    findings.fail('entry_point', `The checks were cut short: ${textOf(error)}`);
  }
  await guard.release();
  findings.note('no_exit', guard.exits[0], 'It does not end the process.');
  findings.note(
    'no_stray_errors',
    guard.strays[0],
    'It leaves no rejection unhandled and no exception uncaught.',
  );
  return names;
}

/** Finds tools of different files that one session cannot have side by side. */
function createTwinCheck(): {
  check(names: readonly string[], file: string, findings: Findings): void;
  close(): Promise<void>;
} {
  const registry = new HostToolRegistry();
  const owners = new Map<string, string>();
  return {
    check(names, file, findings) {
      for (const name of new Set(names)) {
        const owner = owners.get(name);
        let fault =
          owner === undefined
            ? undefined
            : `The file ${owner} also has a tool with this name. Only one of them can be loaded.`;
        if (owner === undefined) {
          try {
            registry.register(
              createDefinition({
                name,
                description: 'A stand-in.',
                parameters: { type: 'object' },
                handler: () => null,
              }) as AnyTool<unknown>,
            );
            owners.set(name, file);
          } catch (error) {
            if (!isMisuseError(error)) throw error;
            fault = error.message;
          }
        }
        findings.note(
          'name_twins',
          fault,
          'No other tool has a name that could be taken for its own.',
          name,
        );
      }
    },
    close: () => registry.close(),
  };
}

// The report of `validate`, as data and as lines for people.

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
function concludeFile(
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
