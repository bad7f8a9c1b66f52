/** Finds the identifiers in a free text: addresses, URLs, account numbers and paths. */
import { compatible, isDigit, visible } from './text.ts';

/** Most identifiers of a text. A text with more is judged as a whole. */
export const mostIdentifiers = 500;
/** Most parts of a text that are checked because they may contain an identifier. */
const mostParts = 20_000;

/**
 * The identifiers in a text, each once: URLs and other addresses with a scheme, hosts, e-mail
 * addresses, absolute paths, and numbers of accounts and telephones. Undefined if there are more
 * than {@link mostIdentifiers}, or too many parts that look like one. Linear in the length of the
 * text.
 */
export function identifiersIn(text: string): string[] | undefined {
  if (text.length < fewestDigits && !/[@/\\.。．＠]/.test(text)) return [];
  const found = new Set<string>();
  const plain = visible(compatible(text)).replaceAll('。', '.');
  let parts = 0;
  for (const part of plain.split(/[\s"<>`\p{Cc}]+/u)) {
    if (!mayHoldOne.test(part)) continue;
    if (++parts > mostParts) return undefined;
    for (const one of inPart(part)) found.add(one);
    if (found.size > mostIdentifiers) return undefined;
  }
  for (const one of accountsIn(plain)) {
    found.add(one);
    if (found.size > mostIdentifiers) return undefined;
  }
  return [...found];
}

/** Every identifier except a number contains an `@`, a slash, or a dot. */
const mayHoldOne = /[@/\\]|\.[^\s.,;:!?'")\]}]/;

/** The identifiers in a part of a text that has no white space. */
function inPart(part: string): string[] {
  const scheme = part.indexOf('://');
  if (scheme !== -1) {
    let start = scheme;
    while (start > 0 && /[a-z0-9+.-]/i.test(part[start - 1] as string)) start--;
    const url = trimmed(part.slice(start));
    return start === 0 ? [url] : [url, ...inWords(part.slice(0, start))];
  }
  return inWords(part);
}

function inWords(part: string): string[] {
  const found: string[] = [];
  for (const piece of part.split(/[,;|()[\]{}'*!^“”‘’«»]+/)) {
    const word = trimmed(piece);
    const one = word === '' ? undefined : identifierOf(word);
    if (one !== undefined) found.push(one);
  }
  return found;
}

function identifierOf(word: string): string | undefined {
  if (word.includes('@')) return emailIn(word);
  if (isPath(word)) return word;
  // A prefix such as in `note:www.example.com`, but not `C:\` and not a port.
  const colon = word.indexOf(':');
  const bare = colon !== -1 && !/^\d/.test(word.slice(colon + 1)) ? word.slice(colon + 1) : word;
  return isWebAddress(bare) ? bare : undefined;
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
    /^(?:~|\.{1,2})[/\\]./.test(word) ||
    /^[a-z]:[/\\]./i.test(word) ||
    word.startsWith('\\\\') ||
    /^\/[^/\s]+[/.]./.test(word) ||
    word.startsWith('//')
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
function isWebAddress(word: string): boolean {
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

/** Fewest digits of an account or telephone number, and of a number with letters in it. */
const fewestDigits = 8;
const fewestInCode = 4;
/** Fewest characters of a code that has letters and digits, such as the address of a wallet. */
const fewestInLongCode = 14;
const mostGroups = 12;

/** Dates and times in a text, which identify no one. */
const moments = /\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?Z?)?\b/g;

/**
 * Numbers with eight digits or more, in groups or not, and long codes of letters and digits.
 */
function accountsIn(content: string): string[] {
  const text = content.replace(moments, ' / ');
  const found: string[] = [];
  let start = -1;
  let end = -1;
  let groups = 0;
  let digits = 0;
  const close = (): void => {
    const isNumber = digits >= fewestDigits && digits >= 2 * groups;
    const isCode = groups === 1 && end - start >= fewestInLongCode && digits >= fewestInCode;
    if ((isNumber || isCode) && !isDecimal(text, start, end)) found.push(text.slice(start, end));
    start = -1;
    groups = 0;
    digits = 0;
  };
  for (let at = 0; at < text.length; at++) {
    if (!isAlphanumeric(text.charCodeAt(at))) continue;
    const first = at;
    let own = 0;
    for (; isAlphanumeric(text.charCodeAt(at)); at++) if (isDigit(text.charCodeAt(at))) own++;
    if (start !== -1) {
      const isNear = first - end <= 2 && groups < mostGroups;
      if (own === 0 || !isNear || !gaps.has(text.slice(end, first))) close();
    }
    if (own === 0) continue;
    if (start === -1) start = first;
    end = at;
    groups++;
    digits += own;
  }
  if (start !== -1) close();
  return found;
}

function isAlphanumeric(code: number): boolean {
  return isDigit(code) || (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}

/** What may separate two groups of one number. */
const gaps = new Set([' ', '-', ') ', ')', '-(', ' (']);

/** Whether the range is a part of a number with a fraction, such as `12345678.90`. */
function isDecimal(text: string, start: number, end: number): boolean {
  return (
    /^[.,]\d/.test(text.slice(end, end + 2)) ||
    /\d[.,]$/.test(text.slice(Math.max(0, start - 2), start))
  );
}
