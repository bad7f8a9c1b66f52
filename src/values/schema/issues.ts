/**
 * Words validation failures for a model: one line per path, what was expected, never the raw
 * arguments.
 */
/** One thing that is wrong with a value. `path` is dotted; "" is the root. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

const maxLines = 20;
const maxLineChars = 300;

/** Writes issues as text, one line per path. */
export function issueLines(issues: readonly Issue[]): string {
  // Most refusals have one issue, and need no arrays.
  const [only] = issues;
  if (only !== undefined && issues.length === 1) return line(only);
  const lines = issues.slice(0, maxLines).map(line);
  if (issues.length > maxLines) lines.push(`and ${issues.length - maxLines} more`);
  return lines.join('\n');
}

/**
 * The part of a vendor's message that quotes the value: zod 3 writes it after `received '`, Valibot
 * after `but received`, and ArkType in a final `(was …)`.
 */
const echoes = /,? (?:but )?received (?:["'`].*|-?\d.*)$| ?\(was (?!an? \S+\)$|missing\)$).*\)$/su;

/**
 * Removes the value that was sent from a message: the model knows it, and logs must not have it.
 * Names of types are kept.
 */
export function withoutEcho(message: string): string {
  // Most messages quote nothing, and this test is cheaper than the replacement.
  return message.includes('received') || message.includes('(was ')
    ? message.replace(echoes, '')
    : message;
}

function line({ path, message }: Issue): string {
  const text = path === '' ? message : `${path}: ${message}`;
  // A path has keys that a model made up, so line breaks, control characters and reordering marks
  // are replaced.
  const flat = /[^\S ]|[\p{Cc}\p{Bidi_Control}]/u.test(text)
    ? text.replaceAll(/\s+/gu, ' ').replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '?')
    : text;
  return flat.length > maxLineChars ? `${flat.slice(0, maxLineChars - 1)}…` : flat;
}
