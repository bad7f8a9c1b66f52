/** Suggests the names that were probably meant, for messages about unknown names. */
import { type MisuseCode, MisuseError } from '../errors/index.ts';
import { nearestNames } from '../text/names.ts';

/**
 * Names in other libraries of options that have a different name here. A name is suggested only if
 * an option of that name exists.
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
  ['export', ['function']],
]);

/**
 * The known name that was probably meant: the one that other libraries call by the unknown name, or
 * a similar one.
 */
export function probablyMeant(unknown: string, known: readonly string[]): string | undefined {
  const [near] = wordsOfOthers.get(unknown)?.filter((word) => known.includes(word)) ?? [];
  return near ?? nearestNames(unknown, known, 1)[0];
}

/**
 * The end of a message about an unknown name: the known name that was probably meant, or all known
 * names if none is similar.
 */
export function suggestion(unknown: string, known: Iterable<string>): string {
  const names = [...known];
  const nearest = probablyMeant(unknown, names);
  return nearest === undefined
    ? '; expected ' +
        `${names.length === 1 ? '' : 'one of '}${names.map((name) => `\`${name}\``).join(', ')}`
    : `; did you mean \`${nearest}\`?`;
}

/**
 * Refuses a member whose name resembles a known one that the object lacks. Other unknown members
 * are allowed, because a policy or a hook may keep its state beside its functions.
 * @throws MisuseError with the code `code`.
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
