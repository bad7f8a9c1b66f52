/**
 * A call in one line of words, such as `send_mail to eve@evil.test · 2 recipients`. It helps a
 * person to tell calls apart. What a call would do is in its whole input.
 */
import { escapePointer, isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';
import { escapeUnseen, head, tail } from './characters.ts';

/** Most members that are looked at, and most levels of objects. */
const maxMembers = 64;
const maxDepth = 3;
/** Most characters of a value, of a name, and of the line after the name of the tool. */
const maxOfValue = 40;
const maxOfName = 30;
const maxOfLine = 160;
/** Most numbers and flags after the target. */
const maxExtras = 2;
/** What parts of a line are joined with, what looks like it, and white space other than a space. */
const likeWords = /,\s|\bto\s|["“”]|[·•∙⋅・･‧᛫]|\s{2}|(?! )\s/iu;
/** A text on one line is counted from this many characters. */
const longText = 200;

/** A member of the input, or of an object in it. */
interface Member {
  readonly name: string;
  /** The words of the name, in lower case. */
  readonly words: readonly string[];
  readonly value: JsonValue;
}

/** The last word of the names of targets, the best kind first. */
const targets: readonly ReadonlySet<string>[] = [
  new Set([
    'path',
    'paths',
    'file',
    'files',
    'filename',
    'filenames',
    'folder',
    'dir',
    'directory',
  ]),
  new Set(['url', 'urls', 'uri', 'link', 'href', 'endpoint', 'host', 'hostname', 'domain']),
  new Set(['command', 'commands', 'cmd', 'sql']),
  new Set(['source', 'src']),
  new Set(['id', 'ids', 'key', 'slug', 'ref']),
];
const recipients = new Set(['recipient', 'recipients', 'email', 'emails', 'payee', 'assignee']);
/** They count as recipients only as the whole name: `valid_to` is none. */
const recipientNames = new Set(['to', 'destination', 'dest', 'target', 'channel', 'to_address']);
const addresses = new Set([
  'address',
  'email',
  'mail',
  'url',
  'uri',
  'id',
  'path',
  'phone',
  'iban',
]);
const copies = new Set(['cc', 'bcc']);

/**
 * The name of a tool, and what its input is about.
 * @param hidden JSON pointers of members that are left out, because they are secret
 */
export function callSummary(tool: string, input: JsonObject, hidden?: readonly string[]): string {
  const words = inputWords(input, hidden);
  return words === '' ? oneLine(tool) : `${oneLine(tool)} ${words}`;
}

/**
 * What an input is about, in at most 160 characters: its first target, recipients, numbers and
 * flags, and the size of its longest text. `""` if it has nothing that can be told in words.
 */
function inputWords(input: JsonObject, hidden: readonly string[] = []): string {
  // The whole input is hidden.
  if (hidden.includes('')) return '';
  const members = membersOf(input, new Set(hidden));
  const to = members.filter(isRecipient);
  const about = targetIn(members, to);
  const first = about ?? (to.length === 0 ? members.find(({ value }) => isTold(value)) : undefined);
  const line = [
    first === undefined ? '' : told(first, about !== undefined),
    to[0] === undefined ? '' : `to ${valueWords(to[0].value)}`,
  ]
    .filter((part) => part !== '')
    .join(' ');
  const extras = members
    .filter(({ name, value }) => name !== first?.name && isExtra(value))
    .slice(0, maxExtras)
    .map(({ name, value }) => `${nameWords(name)} ${String(value)}`);
  const people = recipientWords(members, to);
  const begun = [line, people].filter((part) => part !== '').join(' · ');
  const parts = [begun, ...extras].filter((part) => part !== '').join(', ');
  const sizes = sizesOf(members, first, to);
  return cut([parts, ...sizes].filter((part) => part !== '').join(' · '), maxOfLine);
}

/** Members of the input, then those of its objects. */
function membersOf(input: JsonObject, hidden: ReadonlySet<string>): Member[] {
  const found: Member[] = [];
  let level: (readonly [string, JsonObject])[] = [['', input]];
  for (let depth = 0; depth < maxDepth && level.length > 0; depth++) {
    const inner: [string, JsonObject][] = [];
    for (const [path, object] of level)
      for (const name of Object.keys(object)) {
        if (found.length + inner.length >= maxMembers) return found;
        const value = object[name] as JsonValue;
        const pointer = `${path}/${escapePointer(name)}`;
        if (hidden.has(pointer)) continue;
        const first = Array.isArray(value) ? value[0] : undefined;
        if (isJsonObject(value)) inner.push([pointer, value]);
        else if (![...hidden].some((other) => other.startsWith(`${pointer}/`)))
          found.push({ name, words: wordsOf(name), value });
        else if (first !== undefined && isJsonObject(first)) inner.push([`${pointer}/0`, first]);
      }
    level = inner;
  }
  return found;
}

/** `filePath` and `file_path` both have the words `file` and `path`. */
function wordsOf(name: string): string[] {
  return name
    .slice(0, 100)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

function isRecipient({ words, value }: Member): boolean {
  return (
    isTold(value) && (recipientNames.has(words.join('_')) || recipients.has(words.at(-1) ?? ''))
  );
}

function targetIn(members: readonly Member[], to: readonly Member[]): Member | undefined {
  for (const kind of targets) {
    const found = members.find(
      (one) => kind.has(one.words.at(-1) ?? '') && isTold(one.value) && !to.includes(one),
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a value can be told in a few words. @param levels how many levels are looked at */
function isTold(value: JsonValue, levels = maxDepth): boolean {
  const isInner = (one: JsonValue): boolean => levels > 0 && isTold(one, levels - 1);
  if (Array.isArray(value)) return value.some((one) => !Array.isArray(one) && isInner(one));
  if (isJsonObject(value))
    return Object.values(value).some((one) => !isJsonObject(one) && isInner(one));
  return value !== null && (typeof value !== 'string' || value.trim() !== '');
}

/** Numbers, and flags that are set. Flags that are not set are what one expects. */
function isExtra(value: JsonValue): boolean {
  return typeof value === 'number' || value === true;
}

/** A text speaks for itself. A number needs its name, unless it is the target by its name. */
function told({ name, value }: Member, isTarget: boolean): string {
  const isNamed = isTarget || typeof value === 'string' || Array.isArray(value);
  return isNamed ? valueWords(value) : `${nameWords(name)} ${valueWords(value)}`;
}

function valueWords(value: JsonValue): string {
  const text = textOf(value).trim();
  const [line = ''] = text.split('\n', 1);
  // More lines may say something else.
  const more = line.length < text.length ? '…' : '';
  return quoted(cut(`${oneLine(line.trim())}${more}`, maxOfValue));
}

/** A text must not look like the words that come after it. */
function quoted(text: string): string {
  return likeWords.test(text) ? `“${text.replaceAll(/[“”]/g, '"')}”` : text;
}

function textOf(value: JsonValue): string {
  if (Array.isArray(value)) return textOf(value.find((one) => isTold(one)) ?? '');
  if (isJsonObject(value))
    return textOf(addressIn(value) ?? Object.values(value).find((one) => isTold(one)) ?? '');
  // Enough for what is shown of it.
  return typeof value === 'string' ? value.trimStart().slice(0, 1_000) : String(value);
}

/** Where something goes. The name beside it may be any text. */
function addressIn(object: JsonObject): JsonValue | undefined {
  const [, found] =
    Object.entries(object)
      .slice(0, maxMembers)
      .find(([name, value]) => addresses.has(wordsOf(name).at(-1) ?? '') && isTold(value)) ?? [];
  return found;
}

function nameWords(name: string): string {
  return quoted(cut(oneLine(name), maxOfName));
}

/** How many people get something, copies included, if it is more than one. */
function recipientWords(members: readonly Member[], to: readonly Member[]): string {
  const all = [...to, ...members.filter(isCopy)];
  // A second member may only repeat the first one.
  const known = new Set<string>();
  const isNew = ({ value }: Member): boolean =>
    typeof value !== 'string' || (!known.has(value) && known.add(value) !== undefined);
  const count = all.filter(isNew).reduce((sum, { value }) => sum + countOf(value), 0);
  return count > 1 ? `${numbered(count)} recipients` : '';
}

function isCopy({ words }: Member): boolean {
  return copies.has(words.at(-1) ?? '');
}

/** How many entries a list has, and how long the longest text is. */
function sizesOf(
  members: readonly Member[],
  first: Member | undefined,
  to: readonly Member[],
): string[] {
  const list = members.find((one) => !to.includes(one) && !isCopy(one) && isList(one));
  const longest = members.reduce<string>(
    (most, { value }) => (typeof value === 'string' && value.length > most.length ? value : most),
    '',
  );
  const lines = longest.includes('\n') ? longest.replace(/\n$/, '').split('\n').length : 0;
  return [
    list === undefined ? '' : listWords(list, list === first),
    lines > 1
      ? `${numbered(lines)} lines`
      : longest.length >= longText
        ? `${numbered(longest.length)} characters`
        : '',
  ];
}

function isList({ value }: Member): boolean {
  return Array.isArray(value) && value.length > 0;
}

function countOf(value: JsonValue): number {
  return Array.isArray(value) ? value.length : isTold(value) ? 1 : 0;
}

/** `3 files` for a list of that name, or `3 items`. A list of one is not counted. */
function listWords({ words, value }: Member, isShown: boolean): string {
  const { length } = value as readonly JsonValue[];
  if (length === 1 && isShown) return '';
  const name = words.at(-1) ?? '';
  const many = /^[a-z]{2,20}s$/.test(name) ? name : 'items';
  return `${numbered(length)} ${length === 1 ? many.slice(0, -1) : many}`;
}

function numbered(count: number): string {
  return count.toLocaleString('en');
}

/** The beginning and the end, as the end of a path or an address matters too. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = Math.floor(most / 3);
  return `${head(text, most - end - 1)}…${tail(text, end)}`;
}

function oneLine(text: string): string {
  return escapeUnseen(text.toWellFormed()).replaceAll('\n', '\\n');
}
