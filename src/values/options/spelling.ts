/** Suggests the names that were probably meant, for messages about unknown names. */
import { type MisuseCode, MisuseError } from '../errors/index.ts';
import { nearestNames } from '../text/names.ts';

/**
 * Options, and what other libraries call them. An option is suggested only where it exists; of
 * several, the first.
 */
const wordsOfOthers: Readonly<Record<string, string>> = {
  handler: 'execute run func fn invoke implementation',
  arguments: 'args input',
  parameters: 'inputSchema input_schema inputs schema args params input',
  input: 'arguments args params',
  outputSchema: 'output output_schema',
  requiresApproval:
    'needsApproval requireApproval requireConfirmation requiresConfirmation needs_approval ' +
    'interrupt confirm',
  timeoutMs: 'timeout',
  defaultTimeoutMs: 'timeout',
  requestTimeoutMs: 'timeout',
  ttlMs: 'ttl',
  ttlSeconds: 'ttl',
  maxConcurrency: 'concurrency',
  annotations: 'hints',
  name: 'id',
  sessionId: 'id',
  callId: 'id',
  principal: 'user userId',
  signal: 'abortSignal',
  approver: 'onApproval',
  hooks: 'middleware',
  logger: 'log',
  policies: 'policy',
  id: 'name',
  function: 'export',
};

/**
 * The known name that was probably meant: the one that other libraries call by the unknown name, or
 * a similar one.
 */
export function probablyMeant(unknown: string, known: readonly string[]): string | undefined {
  const near = Object.entries(wordsOfOthers).find(
    ([name, words]) => known.includes(name) && words.split(' ').includes(unknown),
  );
  return near?.[0] ?? nearestNames(unknown, known, 1)[0];
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
