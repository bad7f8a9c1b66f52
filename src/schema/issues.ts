/**
 * How validation failures read to a model: one line a path, what was expected, never the raw
 * arguments.
 */
/** One thing wrong; `path` is dotted, "" is the root. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

const maxLines = 20;
const maxLineChars = 300;

/** One line a path. */
export function issueLines(issues: readonly Issue[]): string {
  const lines = issues.slice(0, maxLines).map(line);
  if (issues.length > maxLines) lines.push(`and ${issues.length - maxLines} more`);
  return lines.join('\n');
}

/**
 * Where a vendor's message quotes what came: zod 3 after `received '`, Valibot after
 * `but received`, ArkType in a last `(was …)`.
 */
const echoes = /,? (?:but )?received (?:["'`].*|-?\d.*)$| ?\(was (?!an? \S+\)$|missing\)$).*\)$/su;

/**
 * The message without the value that came: a model knows what it sent, and logs need not. Names of
 * types stay.
 */
export function withoutEcho(message: string): string {
  // Most messages quote nothing, and looking is cheaper than replacing.
  return message.includes('received') || message.includes('(was ')
    ? message.replace(echoes, '')
    : message;
}

function line({ path, message }: Issue): string {
  const text = path === '' ? message : `${path}: ${message}`;
  // A path holds keys that a model made up: no line breaks, no terminal escapes, no reordering
  // marks.
  const flat = /[^\S ]|[\p{Cc}\p{Bidi_Control}]/u.test(text)
    ? text.replaceAll(/\s+/gu, ' ').replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '?')
    : text;
  return flat.length > maxLineChars ? `${flat.slice(0, maxLineChars - 1)}…` : flat;
}
