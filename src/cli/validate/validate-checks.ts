/** The checks of `validate`: their stable names and severities, and the list of a file's checks. */

/** `error` fails the file, `warning` is advice, and `info` reports what could not be checked. */
export type CheckSeverity = 'error' | 'warning' | 'info';

/** All checks with their severities. docs/validating.md has a line for each. */
export const validateChecks = {
  // The file
  file_exists: 'error',
  file_kind: 'error',
  importable: 'error',
  modules_load: 'error',
  config_loads: 'error',
  config_entries: 'error',
  config_not_empty: 'warning',
  store_fits: 'warning',
  server_prefixes: 'warning',
  rule_matches: 'warning',
  quota_matches: 'warning',
  rules_compared: 'info',
  rule_can_match: 'error',
  quota_can_match: 'error',
  offload_readable: 'warning',
  // The module
  entry_point: 'error',
  entry_point_parameters: 'warning',
  setup_runs: 'error',
  definitions: 'error',
  mount_runs: 'error',
  mount_returns: 'error',
  mount_available: 'warning',
  mounts_tools: 'error',
  mount_name: 'warning',
  cleanup_runs: 'error',
  cleanup_idempotent: 'error',
  cleanup_unmounts: 'info',
  observability_events: 'warning',
  // Each tool
  tool_object: 'error',
  tool_name: 'error',
  name_unique: 'error',
  name_style: 'warning',
  name_twins: 'warning',
  tool_description: 'error',
  description_length: 'warning',
  tool_execute: 'error',
  schema_present: 'warning',
  schema_valid: 'error',
  schema_agrees: 'error',
  schema_not_empty: 'warning',
  schema_patterns: 'warning',
  uses_known: 'warning',
  sandbox_loads: 'error',
  // Behaviour
  behaviour_skipped: 'info',
  never_throws: 'error',
  settles: 'error',
  result_shape: 'error',
  output_json: 'error',
  refuses_invalid_input: 'warning',
  // The process
  no_exit: 'error',
  no_stray_errors: 'error',
} as const satisfies Record<string, CheckSeverity>;

/** The stable name of a check. */
export type CheckName = keyof typeof validateChecks;

/** One check of one file, or of one tool in it. */
export interface ValidateCheck {
  /** Stable; docs/validating.md explains it. */
  readonly name: CheckName;
  /** What a failure of the check means. */
  readonly severity: CheckSeverity;
  /** Whether it passed. An `info` that did not pass does not fail the file. */
  readonly passed: boolean;
  /** What was found. For a failure, also what to do. */
  readonly message: string;
  /** The tool, if the check is about one. */
  readonly tool?: string;
}

/** Collects the checks of one file. */
export interface Findings {
  /** The checks so far, in order. */
  readonly checks: readonly ValidateCheck[];
  /** Adds a check. It passed if `fault` is undefined. Returns whether it passed. */
  note(name: CheckName, fault: string | undefined, held: string, tool?: string): boolean;
  /** Where the calls of the file's definitions run, by their names. */
  readonly places: ReadonlyMap<string, string>;
  /** Notes where the calls of a definition run. */
  runsIn(tool: string, place: string): void;
  /** Adds a check that failed. */
  fail(name: CheckName, fault: string, tool?: string): void;
}

export function createFindings(): Findings {
  const checks: ValidateCheck[] = [];
  const note: Findings['note'] = (name, fault, held, tool) => {
    checks.push({
      name,
      severity: validateChecks[name],
      passed: fault === undefined,
      message: fault ?? held,
      ...(tool === undefined ? {} : { tool }),
    });
    return fault === undefined;
  };
  const places = new Map<string, string>();
  return {
    checks,
    note,
    places,
    runsIn: (tool, place) => void places.set(tool, place),
    fail: (name, fault, tool) => void note(name, fault, '', tool),
  };
}

// Runs the host's code within a time limit. Whatever it throws becomes text.

/** The outcome of the host's code. `late`: it did not end within the time limit. */
export type Ended<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'threw'; readonly text: string; readonly thrown: unknown }
  | { readonly kind: 'late' };

const longestText = 500;

/**
 * Runs `code` at once and waits at most `timeoutMs` for its promise. Never rejects. A loop that
 * never yields cannot be stopped.
 */
export async function within<T>(timeoutMs: number, code: () => T): Promise<Ended<Awaited<T>>> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Ended<Awaited<T>>>((resolve) => {
    timer = setTimeout(() => resolve({ kind: 'late' }), timeoutMs);
  });
  const ended = (async (): Promise<Ended<Awaited<T>>> => {
    try {
      return { kind: 'value', value: await code() };
    } catch (error) {
      return { kind: 'threw', text: textOf(error), thrown: error };
    }
  })();
  try {
    return await Promise.race([ended, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A thrown value as a short text that is not empty, even if reading the value throws. */
export function textOf(thrown: unknown): string {
  try {
    const text = thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
    if (text.trim() !== '')
      return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
  } catch {
    // The value cannot be converted to text.
  }
  return 'an error without a message';
}

/** Reads a member of a foreign value, whose getter may throw. */
export function memberOf(
  holder: unknown,
  key: string,
): { readonly value: unknown } | { readonly value: undefined; readonly threw: string } {
  try {
    return { value: (holder as Record<string, unknown> | null | undefined)?.[key] };
  } catch (error) {
    return { value: undefined, threw: textOf(error) };
  }
}
