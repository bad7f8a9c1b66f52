/** Finds the identifiers in a free text: addresses, URLs, account numbers and paths. */
import { accountsIn, fewestDigits } from './accounts.ts';
import { compatible, visible } from './text.ts';

/** Most identifiers of a text. A text with more is judged as a whole. */
export const maxIdentifiers = 500;
/** Most parts of a text that are checked because they may contain an identifier. */
const maxParts = 20_000;

/**
 * The identifiers in a text, each once: URLs and other addresses with a scheme, hosts, e-mail
 * addresses, absolute paths, and numbers of accounts and telephones. Undefined if there are more
 * than {@link maxIdentifiers}, or too many parts that look like one. Linear in the length of the
 * text.
 */
export function identifiersIn(text: string): string[] | undefined {
  if (text.length < fewestDigits && !/[@/\\.。．＠]/.test(text)) return [];
  const found = new Set<string>();
  let parts = 0;
  for (const reading of readingsOf(text)) {
    for (const part of reading.split(/[\s"<>`\p{Cc}]+/u)) {
      if (!mayHoldOne.test(part)) continue;
      if (++parts > maxParts) return undefined;
      for (const one of inPart(part)) found.add(one);
      if (found.size > maxIdentifiers) return undefined;
    }
    for (const one of accountsIn(reading)) {
      found.add(one);
      if (found.size > maxIdentifiers) return undefined;
    }
  }
  return [...found];
}

/** Every identifier except a number contains an `@`, a slash, or a dot. */
const mayHoldOne = /[@/\\]|\.[^\s.,;:!?'")\]}]/;

/** The identifiers in a part of a text that has no white space. */
function inPart(part: string): string[] {
  const colon = colonOf(part);
  if (colon === -1) return inWords(part);
  let start = colon;
  while (start > 0 && /[a-z0-9+.-]/i.test(part[start - 1] as string)) start--;
  const url = trimmed(part.slice(start));
  return start === 0 ? [url] : [url, ...inWords(part.slice(0, start))];
}

/** Schemes after which browsers need no slashes, and accept backslashes. */
const lenient = /(?:^|[^a-z0-9+.-])(?:https?|wss?|ftp|file):$/i;

/** The place of the colon after a scheme; -1 if there is none. */
function colonOf(part: string): number {
  for (let at = part.indexOf(':'); at !== -1; at = part.indexOf(':', at + 1)) {
    if (part.startsWith('//', at + 1)) return at;
    if (/^[a-z0-9+.-]:[\\/]{2}/i.test(part.slice(Math.max(0, at - 1), at + 3))) return at;
    if (!lenient.test(part.slice(Math.max(0, at - 6), at + 1))) continue;
    if (/^(?:[\\/]|[^.]{1,255}\.[^.])/.test(part.slice(at + 1, at + 260))) return at;
  }
  return -1;
}

function inWords(part: string): string[] {
  const found: string[] = [];
  // An apostrophe belongs to the name of a mailbox, as in `o'brien@example.com`.
  const ends = part.includes('@') ? /(?<![\p{L}\p{N}])['’]+|['’]+(?![\p{L}\p{N}])/u : /['’]+/;
  for (const piece of part.split(/[,;|()[\]{}*!^“”‘«»]+/))
    for (const word of piece.split(ends)) if (word !== '') found.push(...inWord(trimmed(word)));
  return found;
}

function inWord(word: string): string[] {
  const found = barest(word).find((one) => isPath(one) || isWebAddress(one));
  const mail = word.includes('@') ? emailIn(word) : undefined;
  return [found, mail].filter((one) => one !== undefined);
}

/**
 * The word without a name before it, such as in `note:www.example.com` and `src=//example.com`, but
 * not `C:\`; and the word without what follows a host, as in `example.com:work.git`.
 */
function barest(word: string): string[] {
  const sign = word.indexOf('=');
  const colon = word.indexOf(':');
  const words = [word];
  if (sign !== -1 && /^[\w-]+$/.test(word.slice(0, sign))) words.push(word.slice(sign + 1));
  if (colon !== -1 && !/^\d/.test(word.slice(colon + 1)))
    words.push(word.slice(colon + 1), word.slice(0, colon));
  return words;
}

/** The address in a word with an `@`; the whole word if it is more than that. */
function emailIn(word: string): string | undefined {
  const at = word.indexOf('@');
  if (word.indexOf('@', at + 1) !== -1) return word;
  let start = at;
  while (start > 0 && /[^\s:=/\\]/.test(word[start - 1] as string)) start--;
  const host = word.slice(at + 1);
  if (start === at || !host.includes('.')) return undefined;
  return word.slice(start);
}

/** Removes punctuation at the end, and what a sentence or a list puts in front. */
function trimmed(word: string): string {
  let end = word.length;
  while (end > 0 && '.,;:!?\'")]}*_~|'.includes(word[end - 1] as string)) end--;
  let start = 0;
  while (start < end && '\'"([{*_#=|'.includes(word[start] as string)) start++;
  return word.slice(start, end);
}

function isPath(word: string): boolean {
  return (
    /^(?:~(?:[a-z_][\w.-]*)?|\.{1,2}|\$[a-z_]\w*|%[a-z_]\w*%)[/\\]./i.test(word) ||
    /^[a-z]:[/\\]./i.test(word) ||
    /^\/[^/\s]+[/.]./.test(word) ||
    word.startsWith('//') ||
    word.startsWith('\\\\') ||
    // A browser reads any two slashes as the start of a host.
    /^[/\\]{2,}[\p{L}\p{N}_-]+[.:]/u.test(word)
  );
}

/**
 * Top-level domains that can be distinguished from the end of a sentence and from a file extension.
 * Country domains have two letters. Those that are common file extensions are left out.
 */
const genericDomains = new Set(
  (
    'com net org edu gov mil int info biz name pro io ai app dev xyz online site website store ' +
    'shop tech cloud club blog live news page link click top vip work world space fun icu buzz ' +
    'email support services agency digital media network systems solutions finance bank money ' +
    'exchange crypto wallet'
  ).split(' '),
);
const fileEndings = new Set(
  (
    'md py rs sh ts js cc so pl ps gz js mk tf vb cs hs ml mm ms bz db id in it is me my no to ' +
    'at be us or by as am do if'
  ).split(' '),
);

/**
 * Whether a word without a scheme is a web address: `www.example.com`, `example.com/path`,
 * `10.0.0.1`.
 */
export function isWebAddress(word: string): boolean {
  const end = word.search(/[/?#\\]/);
  const host = (end === -1 ? word : word.slice(0, end)).replace(/:\d{1,5}$/, '');
  if (host.length > 255) return /^www\./i.test(word);
  const labels = host.split('.');
  const top = labels.at(-1) as string;
  if (
    labels.length < 2 ||
    labels.some((label) => label === '' || /[^\p{L}\p{M}\p{N}_-]/u.test(label))
  )
    return false;
  if (/^www$/i.test(labels[0] as string)) return true;
  if (labels.length === 4 && labels.every((label) => /^\d{1,3}$/.test(label))) return true;
  if (!/^(?:\p{L}{2,}|xn--[a-z0-9-]+)$/iu.test(top)) return false;
  if (end !== -1 && word.length > end + 1) return true;
  const lower = top.toLowerCase();
  if (genericDomains.has(lower) || /[^a-z]/.test(lower)) return true;
  // `done.In` is the end of a sentence.
  return top.length === 2 && top === lower && !fileEndings.has(top);
}

// How programs may read a text that is shown or sent.

/**
 * The text in NFKC and without invisible characters, and what a browser makes of it: with its
 * character references replaced, and without the tabs and line ends that an address loses.
 */
function readingsOf(text: string): string[] {
  const plain = shown(text);
  const readings = new Set([plain, joined(plain)]);
  if (references.test(text)) {
    const page = shown(text.replace(allReferences, characterOf));
    readings.add(page).add(joined(page));
  }
  return [...readings];
}

function shown(text: string): string {
  return visible(compatible(text)).replaceAll('。', '.');
}

const names: ReadonlyMap<string, string> = new Map([
  ['colon', ':'],
  ['sol', '/'],
  ['bsol', '\\'],
  ['period', '.'],
  ['commat', '@'],
  ['Tab', '\t'],
  ['NewLine', '\n'],
  ['shy', ''],
]);
const references = /&(?:#(\d{1,7}|x[0-9a-f]{1,6})|(colon|b?sol|period|commat|Tab|NewLine|shy));?/i;
const allReferences = new RegExp(references, 'gi');

/** The character that a reference such as `&#46;` or `&period;` stands for. */
function characterOf(reference: string, number: string | undefined, name: string): string {
  if (number === undefined) return names.get(name) ?? reference;
  const code = Number(number.toLowerCase().replace(/^x/, '0x'));
  return code <= 0x10ffff ? String.fromCodePoint(code) : reference;
}

const longestTag = 1_000;
const tags = new RegExp(`<[^<>]{0,${longestTag}}>`, 'g');

/** The text of a page, without its tags and with its character references replaced. */
export function pageText(page: string): string {
  return page.replace(tags, '').replace(allReferences, characterOf);
}

const quoted = /=\s*(?:"[^"<>]{0,4000}"|'[^'<>]{0,4000}')/g;
/** Line ends before a sign with which no line begins. */
const continued = /[\t\n\r]+(?=[.@:?%&=\\][^\s.])/g;
/** What an address looks like before them. */
const address = /(?::[\\/]|[\\/]{2})[^\s"<>]+$/;
const longestAddress = 300;

/** Browsers drop tabs and line ends from addresses: in attributes, and wherever one goes on. */
function joined(text: string): string {
  if (!/[\t\n\r]/.test(text) || !/[\\/]/.test(text)) return text;
  return text
    .replace(quoted, (attribute) => attribute.replace(/[\t\n\r]+/g, ''))
    .replace(continued, (end, at: number, whole: string) =>
      address.test(whole.slice(Math.max(0, at - longestAddress), at)) ? '' : end,
    );
}
