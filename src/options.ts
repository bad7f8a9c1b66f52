/** Reading options: own members only, and one voice for the unknown ones. */
import { describe, type MisuseCode, MisuseError } from './errors.ts';
import { nearestNames } from './text/names.ts';

/**
 * What other libraries call what we call something else. Suggested only where the option it stands
 * for exists.
 */
const wordsOfOthers: ReadonlyMap<string, readonly string[]> = new Map([
  ['execute', ['handler']],
  ['run', ['handler']],
  ['func', ['handler']],
  ['fn', ['handler']],
  ['invoke', ['handler']],
  ['implementation', ['handler']],
  ['inputSchema', ['parameters']],
  ['input_schema', ['parameters']],
  ['inputs', ['parameters']],
  ['schema', ['parameters']],
  ['args', ['arguments', 'parameters', 'input']],
  ['arguments', ['input']],
  ['params', ['input', 'parameters']],
  ['input', ['arguments', 'parameters']],
  ['output', ['outputSchema']],
  ['output_schema', ['outputSchema']],
  ['needsApproval', ['requiresApproval']],
  ['requireApproval', ['requiresApproval']],
  ['requireConfirmation', ['requiresApproval']],
  ['requiresConfirmation', ['requiresApproval']],
  ['needs_approval', ['requiresApproval']],
  ['interrupt', ['requiresApproval']],
  ['confirm', ['requiresApproval']],
  ['timeout', ['timeoutMs', 'defaultTimeoutMs', 'requestTimeoutMs']],
  ['ttl', ['ttlMs', 'ttlSeconds']],
  ['concurrency', ['maxConcurrency']],
  ['hints', ['annotations']],
  ['id', ['name', 'sessionId', 'callId']],
  ['user', ['principal']],
  ['userId', ['principal']],
  ['abortSignal', ['signal']],
  ['onApproval', ['approver']],
  ['middleware', ['hooks']],
  ['log', ['logger']],
  ['policy', ['policies']],
  ['name', ['id']],
]);

/**
 * The known name that an unknown one was probably meant to be: another library's word for it, or a
 * similar name.
 */
export function probablyMeant(unknown: string, known: readonly string[]): string | undefined {
  const [near] = wordsOfOthers.get(unknown)?.filter((word) => known.includes(word)) ?? [];
  return near ?? nearestNames(unknown, known, 1)[0];
}

/**
 * The end of a message about an unknown name: the known one that was probably meant, else all of
 * them.
 */
export function suggestion(unknown: string, known: Iterable<string>): string {
  const names = [...known];
  const nearest = probablyMeant(unknown, names);
  return nearest === undefined
    ? `; expected ${names.length === 1 ? '' : 'one of '}${names.map((name) => `\`${name}\``).join(', ')}`
    : `; did you mean \`${nearest}\`?`;
}

/** How {@link readOptions} words and raises its faults. */
export interface OptionsWording {
  /** The code of the error. @default "invalid_option" */
  readonly code?: MisuseCode | undefined;
  /** What one of them is called. @default "option" */
  readonly noun?: string | undefined;
}

/**
 * The own members of an options object, in an object that inherits nothing: what a careless merge
 * put on `Object.prototype` is no option, neither when the names are checked nor when the values
 * are read. Undefined stands for no options. Each member is read once.
 * @param where What was called, for messages: ``createSession: unknown option `rule`; did you mean
 * `rules`?``
 * @throws MisuseError for what is no object, and for a name that is not known.
 */
export function readOptions<T extends object>(
  where: string,
  options: T | undefined,
  known: readonly string[],
  wording: OptionsWording = {},
): Partial<T> {
  const { code = 'invalid_option', noun = 'option' } = wording;
  const own = Object.create(null) as Record<string, unknown>;
  if (options === undefined) return own as Partial<T>;
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new MisuseError(
      code,
      `${where}: expected an object of ${noun}s, got ${describe(options)}.`,
    );
  for (const key of Object.keys(options)) {
    if (!known.includes(key))
      throw new MisuseError(
        code,
        `${where}: unknown ${noun} ` +
          `\`${key.length > 60 ? `${key.slice(0, 57)}...` : key}\`${suggestion(key, known)}`,
      );
    own[key] = (options as Record<string, unknown>)[key];
  }
  return own as Partial<T>;
}

/**
 * Refuses a member that was probably meant to be another, which the object lacks. What resembles
 * nothing is the host's own: a policy or a hook may keep its state beside its functions. @throws
 * MisuseError as {@link readOptions} does.
 */
export function checkSpelling(
  where: string,
  value: object,
  known: readonly string[],
  code: MisuseCode = 'invalid_option',
): void {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const meant = probablyMeant(key, known);
    if (meant !== undefined && !(meant in value))
      throw new MisuseError(code, `${where}: unknown field \`${key}\`; did you mean \`${meant}\`?`);
  }
}
