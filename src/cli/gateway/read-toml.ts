/** TOML 1.0, as Codex keeps its configuration, and JSON with comments. Dates are read as texts. */
import type { JsonValue } from '../../values/json/index.ts';

type Table = Map<string, Value>;
type Value = JsonValue | Table | List;
/** An array, and whether `[[name]]` may add to it. */
interface List {
  readonly items: Value[];
  readonly isOpen: boolean;
}

const deepest = 64;
const bareKey = /[A-Za-z0-9_-]+/y;
const blanks = /[\t ]*/y;
const lines = /(?:[\t ]|\r?\n|#[^\n]*)*/y;
const lineEnd = /[\t ]*(?:#[^\n]*)?(?:\r?\n|$)/y;
const literal = /'([^'\n]*)'/y;
const longLiteral = /'''(?:\r?\n)?([\s\S]*?)'''(?!'(?!''))/y;
const basic = /"((?:[^"\\\n]|\\.)*)"/y;
const longBasic = /"""(?:\r?\n)?((?:[^\\]|\\[\s\S])*?)"""(?!"(?!""))/y;
const scalar = /[^\s,\]}#][^,\]}#\n]*/y;
const escapes: Readonly<Record<string, string>> = {
  b: '\b',
  t: '\t',
  n: '\n',
  f: '\f',
  r: '\r',
  e: '\u001b',
  '"': '"',
  '\\': '\\',
};

/** Reads a text. @throws Error that names the line */
export function readToml(text: string): JsonValue {
  return new Reader(text).document();
}

class Reader {
  readonly #text: string;
  #at = 0;
  readonly #root: Table = new Map();
  /** Tables that a header or an inline table has written, which nothing may write again. */
  readonly #closed = new Set<Table>();

  constructor(text: string) {
    this.#text = text;
  }

  document(): JsonValue {
    let table = this.#root;
    for (;;) {
      this.#take(lines);
      if (this.#at >= this.#text.length) return plain(this.#root, 0);
      if (this.#skip('[[')) table = this.#header(']]');
      else if (this.#skip('[')) table = this.#header(']');
      else this.#pair(table);
      if (this.#take(lineEnd) === undefined) this.#fail('expected the end of the line');
    }
  }

  #header(end: ']' | ']]'): Table {
    const path = this.#keys();
    if (!this.#skip(end)) this.#fail(`expected \`${end}\``);
    const name = path.pop() as string;
    const parent = this.#below(this.#root, path);
    const known = parent.get(name);
    if (end === ']') {
      const table = known ?? new Map<string, Value>();
      if (!(table instanceof Map) || this.#closed.has(table))
        return this.#fail(`\`${name}\` is there already`);
      this.#closed.add(table);
      parent.set(name, table);
      return table;
    }
    const list = known ?? { items: [], isOpen: true };
    if (!isList(list) || !list.isOpen) return this.#fail(`\`${name}\` is there already`);
    const item: Table = new Map();
    list.items.push(item);
    parent.set(name, list);
    return item;
  }

  #pair(table: Table, depth = 0): void {
    const path = this.#keys();
    const name = path.pop() as string;
    if (!this.#skip('=')) this.#fail('expected `=`');
    const parent = this.#below(table, path);
    if (parent.has(name)) this.#fail(`\`${name}\` is there already`);
    parent.set(name, this.#value(depth));
  }

  /** The table at a path; tables that are missing are made. */
  #below(table: Table, path: readonly string[]): Table {
    let at = table;
    if (path.length > deepest) this.#fail('it is nested too deeply');
    for (const key of path) {
      let next = at.get(key);
      if (isList(next) && next.isOpen) next = next.items.at(-1);
      if (next === undefined) {
        next = new Map();
        at.set(key, next);
      }
      if (!(next instanceof Map)) return this.#fail(`\`${key}\` is no table`);
      at = next;
    }
    return at;
  }

  #keys(): string[] {
    const path: string[] = [];
    do {
      this.#take(blanks);
      const quoted = this.#take(basic);
      const key =
        quoted === undefined
          ? (this.#take(literal)?.[1] ?? this.#take(bareKey)?.[0])
          : this.#unescaped(quoted[1] as string);
      if (key === undefined) this.#fail('expected a key');
      path.push(key as string);
      this.#take(blanks);
    } while (this.#skip('.'));
    return path;
  }

  #value(depth: number): Value {
    if (depth > deepest) this.#fail('it is nested too deeply');
    this.#take(blanks);
    if (this.#skip('[')) return this.#array(depth + 1);
    if (this.#skip('{')) return this.#inline(depth + 1);
    const long = this.#take(longBasic);
    if (long !== undefined)
      return this.#unescaped((long[1] as string).replace(/\\[\t ]*\r?\n\s*/g, ''));
    const raw = this.#take(longLiteral) ?? this.#take(literal);
    if (raw !== undefined) return raw[1] as string;
    const quoted = this.#take(basic);
    if (quoted !== undefined) return this.#unescaped(quoted[1] as string);
    return this.#scalar(this.#take(scalar)?.[0].trim() ?? '');
  }

  #array(depth: number): List {
    const items: Value[] = [];
    for (;;) {
      this.#take(lines);
      if (this.#skip(']')) return { items, isOpen: false };
      items.push(this.#value(depth));
      this.#take(lines);
      if (!this.#skip(',') && this.#text[this.#at] !== ']') this.#fail('expected `,` or `]`');
    }
  }

  #inline(depth: number): Table {
    const table: Table = new Map();
    for (;;) {
      this.#take(lines);
      if (this.#skip('}')) break;
      this.#pair(table, depth);
      this.#take(lines);
      if (!this.#skip(',') && this.#text[this.#at] !== '}') this.#fail('expected `,` or `}`');
    }
    this.#closed.add(table);
    return table;
  }

  #scalar(text: string): JsonValue {
    if (text === 'true' || text === 'false') return text === 'true';
    const digits = text.replace(/(?<=[\da-fA-F])_(?=[\da-fA-F])/g, '');
    if (
      /^(?:[+-]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|0x[\da-fA-F]+|0o[0-7]+|0b[01]+)$/.test(
        digits,
      )
    )
      return Number(digits);
    if (/^(?:[+-]?(?:inf|nan)|\d{4}-\d\d-\d\d.*|\d\d:\d\d.*)$/.test(text)) return text;
    return this.#fail('expected a value');
  }

  #unescaped(text: string): string {
    return text.replace(
      /\\(?:u([\da-fA-F]{4})|U([\da-fA-F]{8})|x([\da-fA-F]{2})|([\s\S]))/g,
      (_, four?: string, eight?: string, two?: string, one?: string) => {
        const code = four ?? eight ?? two;
        if (code !== undefined && Number.parseInt(code, 16) <= 0x10ffff)
          return String.fromCodePoint(Number.parseInt(code, 16));
        const sign = Object.hasOwn(escapes, one ?? '') ? escapes[one as string] : undefined;
        return sign ?? this.#fail('expected a known escape after `\\`');
      },
    );
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found !== null) this.#at = pattern.lastIndex;
    return found ?? undefined;
  }

  #skip(sign: string): boolean {
    const isThere = this.#text.startsWith(sign, this.#at);
    if (isThere) this.#at += sign.length;
    return isThere;
  }

  #fail(what: string): never {
    const line = this.#text.slice(0, this.#at).split('\n').length;
    throw new Error(`line ${line}: ${what}`);
  }
}

function isList(value: Value | undefined): value is List {
  return (
    typeof value === 'object' && value !== null && !(value instanceof Map) && 'isOpen' in value
  );
}

function plain(value: Value, depth: number): JsonValue {
  if (depth > deepest * 2) throw new Error('it is nested too deeply');
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([key, inner]) => [key, plain(inner, depth + 1)]));
  return isList(value) ? value.items.map((inner) => plain(inner, depth + 1)) : value;
}

// JSON as editors write it: with comments and trailing commas.

/**
 * Replaces comments and trailing commas with spaces, so that positions stay the same. Strings are
 * unchanged. The result may still not be JSON.
 */
export function withoutComments(text: string): string {
  const out: string[] = [];
  /** The index in `out` of a comma after which only blanks have come; -1 if there is none. */
  let comma = -1;
  for (let at = 0; at < text.length; ) {
    const end = pieceEnd(text, at);
    const piece = text.slice(at, end);
    at = end;
    if (/^\/[/*]/.test(piece)) {
      out.push(piece.replace(/[^\r\n]/g, ' '));
      continue;
    }
    if ((piece === '}' || piece === ']') && comma !== -1) out[comma] = ' ';
    if (piece === ',') comma = out.length;
    else if (piece.trim() !== '') comma = -1;
    out.push(piece);
  }
  return out.join('');
}

/** The end of a string, of a comment, or of one character. */
function pieceEnd(text: string, start: number): number {
  const two = text.slice(start, start + 2);
  if (two === '//') {
    const end = text.indexOf('\n', start);
    return end === -1 ? text.length : end;
  }
  if (two === '/*') {
    const end = text.indexOf('*/', start + 2);
    return end === -1 ? text.length : end + 2;
  }
  if (text[start] !== '"') return start + 1;
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}
