/** The values of a command line's words, once the shell has removed the quotes. */
import type { ParsedScript, Word, WordPart } from 'unbash';

/** A word whose value is known, or the reason why it is unknown. */
export interface KnownWord {
  /** The word, as far as it is known. */
  readonly value: string;
  /** What the shell inserts only when it runs: `$X`, `$(date)`. */
  readonly open?: string | undefined;
  /** If files are inserted: `*`, `?` and the like, between texts. */
  readonly pattern?: readonly Piece[] | undefined;
}

/** A part of a pattern. `[ab]` is any character here, so that more may match than does. */
export type Piece = string | { readonly glob: '*' | '**' | '?' };

/** What words may refer to. */
export interface Scope {
  /** The user's home; `~`. */
  readonly home: string;
  /** Variables of loops, whose value is known. */
  readonly variables: ReadonlyMap<string, string>;
  /** Is told each of them that is used. */
  uses(name: string): void;
}

/** Most words that braces are expanded to. */
const maxWords = 64;

/** Reads a word. `{a,b}` makes several words of it. */
export function readWords(word: Word, scope: Scope): readonly KnownWord[] {
  const { parts } = word;
  const numbers = parts?.length === 1 ? sequenceOf(parts[0] as WordPart, scope) : undefined;
  if (numbers !== undefined) return numbers.map((value) => ({ value }));
  if (parts?.some(({ type }) => type === 'BraceExpansion') !== true) return [readWord(word, scope)];
  let lists: WordPart[][] = [[]];
  for (const part of parts) {
    const texts = part.type === 'BraceExpansion' ? alternatives(part.text) : undefined;
    const choices = texts?.map((text) => ({ ...part, ...literal(text) })) ?? [part];
    // Copying the lists for each part would take quadratic time in a long word.
    if (choices.length === 1) for (const list of lists) list.push(...choices);
    else lists = lists.flatMap((list) => choices.map((one) => [...list, one]));
    if (lists.length > maxWords) return [readWord(word, scope)];
  }
  return lists.map((list) => readParts(list, scope));
}

/** `$(seq 3)` and `$(seq 2 9)`, outside of quotes. */
function sequenceOf(part: WordPart, scope: Scope): readonly string[] | undefined {
  if (part.type !== 'CommandExpansion' || part.script?.commands.length !== 1) return undefined;
  const command = part.script.commands[0]?.command;
  if (command?.type !== 'Command' || command.prefix.length > 0 || command.redirects.length > 0)
    return undefined;
  const words = [command.name, ...command.args].map((one) =>
    one?.type === 'Word' ? readWord(one, scope) : undefined,
  );
  const [program, ...numbers] = words.map((one) => (one?.open === undefined ? one?.value : ''));
  if (program !== 'seq' || numbers.length === 0 || numbers.length > 2) return undefined;
  const [from, to] = numbers.length === 1 ? ['1', numbers[0]] : numbers;
  return alternatives(`{${from}..${to}}`);
}

function literal(text: string): { type: 'Literal'; text: string; value: string } {
  return { type: 'Literal', text, value: text };
}

/** What braces without anything special in them stand for. */
function alternatives(text: string): readonly string[] | undefined {
  const inside = text.slice(1, -1);
  if (/^[\w./@%+,-]*$/.test(inside) && inside.includes(',') && !inside.includes('..'))
    return inside.split(',');
  const [, from, to] = /^(\d{1,4})\.\.(\d{1,4})$/.exec(inside) ?? [];
  if (from === undefined || to === undefined || /^0./.test(from + to)) return undefined;
  const [first, last] = [Number(from), Number(to)];
  const count = Math.abs(last - first) + 1;
  const step = last < first ? -1 : 1;
  if (count > maxWords) return undefined;
  return Array.from({ length: count }, (_, at) => String(first + at * step));
}

/** Reads a word. Of the variables, the home and those of loops are filled in. */
export function readWord(word: Word, scope: Scope): KnownWord {
  const { parts, text } = word;
  if (parts !== undefined) return readParts(parts, scope);
  if (!text.startsWith('~')) return { value: word.value };
  const [user = '', ...rest] = word.value.slice(1).split('/');
  if (user !== '') return { value: word.value, open: `~${user}` };
  return { value: [scope.home, ...rest].join('/') };
}

/** @param quoted Whether it is in double quotes, where `~` is an ordinary character. */
function readParts(parts: readonly WordPart[], scope: Scope, quoted = false): KnownWord {
  let value = '';
  let open: string | undefined;
  let hasGlob = false;
  const pattern: Piece[] = [];
  for (const [index, part] of parts.entries()) {
    const glob = quoted ? undefined : globOf(part);
    if (glob !== undefined) {
      pattern.push(...glob);
      hasGlob = true;
      value += part.text;
      continue;
    }
    const read = readPart(part, scope, quoted);
    open ??= read.open;
    const text =
      !quoted && index === 0 && part.type === 'Literal' && read.value.startsWith('~/')
        ? scope.home + read.value.slice(1)
        : read.value;
    value += text;
    pattern.push(text);
  }
  if (open !== undefined) return { value, open };
  return hasGlob ? { value, pattern } : { value };
}

function globOf(part: WordPart): readonly Piece[] | undefined {
  if (part.type !== 'Glob') return undefined;
  if (part.kind === 'question' || part.kind === 'bracket') return [{ glob: '?' }];
  return [{ glob: part.text.length > 1 ? '**' : '*' }];
}

function readPart(part: WordPart, scope: Scope, quoted: boolean): KnownWord {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return { value: part.value };
    case 'DoubleQuoted':
    case 'LocaleString':
      return readParts(part.parts, scope, true);
    case 'SimpleExpansion':
      return variable(part.text.slice(1), part.text, scope, quoted);
    case 'ParameterExpansion':
      return part.prefix === undefined && part.index === undefined && part.operation === undefined
        ? variable(part.parameter, part.text, scope, quoted)
        : { value: '', open: part.text };
    case 'CommandExpansion': {
      const printed = constantOf(part.script, scope);
      return printed === undefined || (!quoted && isSplit(printed))
        ? { value: '', open: part.text }
        : { value: printed };
    }
    default:
      return { value: part.type === 'Glob' ? part.text : '', open: part.text };
  }
}

/**
 * `$HOME` is the user's home, and `$?`, `$#` and `$$` are numbers. `$!` is one, or empty. Any other
 * variable may have been set before.
 */
function variable(name: string, text: string, scope: Scope, quoted: boolean): KnownWord {
  if (name === 'HOME') return { value: scope.home };
  if (name === '?' || name === '#' || name === '$') return { value: '0' };
  if (name === '!') return { value: '' };
  const value = scope.variables.get(name);
  if (value === undefined || (!quoted && isSplit(value))) return { value: '', open: text };
  scope.uses(name);
  return { value };
}

/** Whether a shell makes several words or a pattern of it, if it is not in quotes. */
function isSplit(value: string): boolean {
  return value === '' || /[\s*?[\\]/.test(value);
}

/** What a substitution prints, if it is always the same: `$(cat <<'EOF' … EOF)`, `$(echo x)`. */
function constantOf(script: ParsedScript | undefined, scope: Scope): string | undefined {
  if (script === undefined || script.errors?.length || script.commands.length !== 1)
    return undefined;
  const command = script.commands[0]?.command;
  if (command?.type !== 'Command' || command.prefix.length > 0) return undefined;
  const { name, args, redirects } = command;
  const program = name === undefined ? undefined : readWord(name, scope);
  if (program === undefined || program.open !== undefined) return undefined;
  if (program.value === 'cat' && args.length === 0 && redirects.length === 1) {
    const [input] = redirects;
    if (input?.type !== 'HereDoc') return undefined;
    const { body, delimiter, operator } = input;
    if (delimiter?.quoted !== true && /[$`\\]/.test(body.text)) return undefined;
    const text = operator === '<<-' ? body.text.replace(/^\t+/gm, '') : body.text;
    return text.replace(/(?<!\n)\n+$/, '');
  }
  if (program.value !== 'echo' || redirects.length > 0) return undefined;
  const words = args.map((arg) => (arg.type === 'Word' ? readWord(arg, scope) : undefined));
  // `echo` reads options and backslashes, not in the same way in each shell.
  if (words.some((word) => word === undefined || word.open !== undefined || word.pattern))
    return undefined;
  const text = words.map((word) => word?.value).join(' ');
  return /^-|\\/.test(text) ? undefined : text.replace(/(?<!\n)\n+$/, '');
}
