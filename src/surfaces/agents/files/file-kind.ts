/** What rules can test of a file by its name, and the patterns of names that tell it. */

/** What rules can test as `file_path@kind.*`, `command@kinds.*` and `command@changes.*`. */
export type FileKind =
  /** Keys, passwords and tokens. */
  | 'secret'
  /** Its name is like that of a secret, but it is an example, or the public half of a key. */
  | 'example'
  /** The guard itself, the agent's own settings and hooks, or a folder above one of them. */
  | 'guard'
  /** Hooks and settings of git. */
  | 'git'
  /** Configurations of MCP servers. */
  | 'mcp'
  /** Another program runs it, or what it names, by itself. */
  | 'runs-later'
  /** Agents take it for orders. */
  | 'instructions'
  /** The agent's own plans and notes. */
  | 'own-notes'
  /** Below the folder for temporary files, and not in the project. */
  | 'temporary'
  /** None of these. */
  | 'ordinary';

/** The kinds in words, for questions: "it is …". */
export const kindWords: Readonly<Record<FileKind, string>> = {
  secret: 'a file with secrets',
  example: 'an example of a file with secrets',
  guard: 'a file that guards the agent',
  git: 'a hook or a setting of git',
  mcp: 'a configuration of MCP servers',
  'runs-later': 'a file that another program runs by itself',
  instructions: 'a file that agents take for orders',
  'own-notes': "a file of the agent's own notes",
  temporary: 'a temporary file',
  ordinary: 'a file',
};

// Patterns of file names in tables: `.aws/**`, `*.pem`, `.kiro/settings/mcp.json`. They compare the
// last parts of a path in small letters, in time that grows with the path's length.

/** A table of patterns that can be looked up by a path. */
export interface NamePatterns<T> {
  /** The values of all patterns that fit a path. @param parts Its parts in small letters */
  find(parts: readonly string[]): readonly T[];
}

interface Row<T> {
  /** The parts of the pattern; `**` at the end has been removed. */
  readonly parts: readonly string[];
  /** Whether anything may follow: the pattern ended with `**`. */
  readonly isOpen: boolean;
  readonly value: T;
}

/**
 * @param table Each value with its patterns, divided by spaces. `*` stands for any text in one
 * part, and `**` at the end for any parts. A pattern that begins with `/` fits whole paths only.
 */
export function namePatterns<T>(table: readonly (readonly [T, string])[]): NamePatterns<T> {
  const byLast = new Map<string, Row<T>[]>();
  const others: Row<T>[] = [];
  const open = new Map<string, Row<T>[]>();
  for (const [value, patterns] of table)
    for (const pattern of patterns.trim().split(/\s+/)) {
      const parts = pattern.toLowerCase().split('/');
      const isOpen = parts.at(-1) === '**';
      if (isOpen) parts.pop();
      const row = { parts, isOpen, value };
      const last = parts.at(-1) as string;
      if (/[*?]/.test(last)) others.push(row);
      else put(isOpen ? open : byLast, last, row);
    }
  return {
    find(parts) {
      const found: T[] = [];
      const keep = (row: Row<T>, end: number): void => {
        if (endsWith(parts, end, row.parts) && !found.includes(row.value)) found.push(row.value);
      };
      const last = parts.length - 1;
      for (const row of byLast.get(parts[last] as string) ?? []) keep(row, last);
      for (const [at, part] of parts.entries())
        for (const row of open.get(part) ?? []) keep(row, at);
      for (const row of others)
        if (!row.isOpen) keep(row, last);
        else for (let at = 0; at <= last; at++) keep(row, at);
      return found;
    },
  };
}

function put<T>(map: Map<string, Row<T>[]>, key: string, row: Row<T>): void {
  const rows = map.get(key);
  if (rows === undefined) map.set(key, [row]);
  else rows.push(row);
}

/** Whether the parts up to `end` end with those of the pattern. */
function endsWith(parts: readonly string[], end: number, pattern: readonly string[]): boolean {
  const start = end - pattern.length + 1;
  if (start < 0 || (pattern[0] === '' && start !== 0)) return false;
  return pattern.every((one, at) => fits(parts[start + at] as string, one));
}

/** Whether a name fits a pattern: `*` is any text, `?` is one character. */
export function fits(name: string, pattern: string): boolean {
  const pieces = pattern.split('*');
  const first = pieces[0] as string;
  if (!hasAt(name, first, 0)) return false;
  if (pieces.length === 1) return name.length === pattern.length;
  const last = pieces.at(-1) as string;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    while (at <= name.length && !hasAt(name, piece, at)) at++;
    at += piece.length;
  }
  return at <= name.length - last.length && hasAt(name, last, name.length - last.length);
}

function hasAt(name: string, piece: string, at: number): boolean {
  if (!piece.includes('?')) return name.startsWith(piece, at);
  if (at + piece.length > name.length) return false;
  return [...piece].every((sign, index) => sign === '?' || sign === name[at + index]);
}
