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
import { createFindings, type Findings } from './validate-checks.ts';
import { checkFile } from './validate-file.ts';
import { textOf } from './validate-foreign-code.ts';
import { guardProcess } from './validate-process-guard.ts';
import { concludeFile, type ValidatedFile, type ValidateReport } from './validate-report.ts';
import type { ToolCheckOptions } from './validate-tool.ts';

export type { CheckName, CheckSeverity, ValidateCheck } from './validate-checks.ts';
export type { ValidatedFile, ValidateReport } from './validate-report.ts';
export { formatValidateReport } from './validate-report.ts';

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
