/** How validation failures read to a model: one line a path, what was expected, never the raw arguments. */
import type { Issue } from './bind.ts';

const maxLines = 20;
const maxLineChars = 300;

/** One line a path. */
export function issueLines(issues: readonly Issue[]): string {
  const lines = issues.slice(0, maxLines).map(({ path, message }) => singleLine(path === '' ? message : `${path}: ${message}`));
  if (issues.length > maxLines) lines.push(`and ${issues.length - maxLines} more`);
  return lines.join('\n');
}

function singleLine(text: string): string {
  const flat = text.replaceAll(/\s+/gu, ' ');
  return flat.length > maxLineChars ? `${flat.slice(0, maxLineChars - 1)}…` : flat;
}
