/**
 * The normal form in which texts are remembered and values are looked up, and the classes of its
 * characters.
 */
import { streamSafe, wellFormed } from '../../values/text/characters.ts';

/**
 * Texts are compared after NFKC and case folding. Nothing else is treated as equal: a Cyrillic
 * letter differs from the Latin one that it resembles, and an invisible character counts. So a
 * value that only looks like a known one is not known.
 */
export function normalForm(text: string): string {
  return foldText(withoutLeafEnds(text));
}

/** The normal form of leaves that are joined by {@link leafEnd}. */
export function foldText(text: string): string {
  if (!beyondAscii.test(text)) return text.toLowerCase();
  return compatible(text).toLowerCase().replaceAll('ς', 'σ');
}

/**
 * The text in NFKC, except for {@link phrases two signs}. The cost is linear, which `normalize`
 * alone does not ensure. The form of a word must not depend on the length of the text around it,
 * because texts that are compared must be folded alike.
 */
export function compatible(text: string): string {
  if (!beyondAscii.test(text)) return text;
  // Outputs have a replacement character for half a pair, so inputs must have it too.
  const whole = loneHalf.test(text) ? wellFormed(text) : text;
  const safe = streamSafe(whole);
  const present = phrases.filter(([sign]) => safe.includes(sign));
  // Several times as fast as `replaceAll`.
  const masked = present.reduce((form, [sign, mask]) => form.split(sign).join(mask), safe);
  const form = masked.normalize('NFKC');
  return present.reduce((unmasked, [sign, mask]) => unmasked.split(mask).join(sign), form);
}

const loneHalf = /\p{Surrogate}/u;

/**
 * Two signs that stand for an Arabic phrase of up to eighteen letters, each with a code point that
 * is no character. The signs stay as they are. No other sign grows more than sixfold.
 */
const phrases = [
  ['\ufdfa', '\ufdd0'],
  ['\ufdfb', '\ufdd1'],
] as const;

/**
 * The normal form without invisible characters: zero-width and bidirectional ones, soft hyphens,
 * variation selectors. It is used for untrusted text, so that an invisible character does not hide
 * where a value was seen.
 */
export function looseForm(text: string): string {
  return beyondAscii.test(text) ? normalForm(visible(text)) : normalForm(text);
}

/** The text without its invisible characters. */
export function visible(text: string): string {
  return beyondAscii.test(text) ? text.replace(invisible, '') : text;
}

/**
 * Separates texts that are remembered together. No leaf contains it, so no match crosses from one
 * into the next.
 */
export const leafEnd = '\0';

/** Whether a text has no character beyond ASCII. */
export function isAscii(text: string): boolean {
  return !beyondAscii.test(text);
}

const beyondAscii = /[^\0-\x7f]/;
const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** The text with spaces instead of leaf separators, so that no text ends early. */
export function withoutLeafEnds(text: string): string {
  return text.includes(leafEnd) ? text.replaceAll(leafEnd, ' ') : text;
}

/** The white space of a normal form. Unlike `\s`, it has no byte-order mark, which is invisible. */
const spaces = /[ \t-\r\u1680\u2028\u2029]+/g;

/** White space at both ends removed, and each run of it inside made one space. */
export function collapsed(form: string): string {
  return form.replace(spaces, ' ').replace(/^ | $/g, '');
}

/** Separates words. */
export const separator = 0;
/** A letter, digit or mark, or anything else that is neither space nor punctuation. */
export const letter = 1;
/** A letter of a script that is written without spaces. It is a word of its own. */
export const ideograph = 2;

const asciiClasses = Uint8Array.from({ length: 128 }, (_, code) =>
  /[a-z0-9]/i.test(String.fromCharCode(code)) ? letter : separator,
);

/** Signs of currencies. They are no part of the number beside them, as in `€1250`. */
export const currencySigns = `¢£¤¥${String.fromCharCode(
  ...Array.from({ length: 48 }, (_, at) => 0x20a0 + at),
)}`;

/** The classes of all other code units, plus one. Filled on first use. */
const wideClasses = new Uint8Array(65_536);

/** The class of a UTF-16 code unit. */
export function classOf(code: number): number {
  return code < 128 ? (asciiClasses[code] as number) : wideClassOf(code);
}

/** Scripts that put no spaces between words. */
const unspacedScripts =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

function wideClassOf(code: number): number {
  const known = wideClasses[code] as number;
  if (known !== 0) return known - 1;
  const char = String.fromCharCode(code);
  let found = letter;
  if (unspacedScripts.test(char)) found = ideograph;
  else if (/[\u1680\u2028\u2029\p{P}]/u.test(char) || currencySigns.includes(char))
    found = separator;
  wideClasses[code] = found + 1;
  return found;
}

/** Whether a code unit is an ASCII digit. False for NaN, which means the end of a text. */
export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** Whether a code unit of a normal form is white space. */
export function isSpace(code: number): boolean {
  if (code < 128) return code === 32 || (code >= 9 && code <= 13);
  return code === 0x1680 || code === 0x2028 || code === 0x2029;
}

/**
 * Words that begin sentences. No name is among them, and no top-level domain such as `in`, `it` and
 * `to`, so that `Ann.Lee`, `docs.Example.com` and `Report.Final.pdf` are never taken apart.
 */
const openers =
  'After|Also|And|Ask|Before|But|Could|Each|Finally|First|For|From|Get|Give|He|Her|His|However|' +
  'If|Just|Let|Make|Many|Not|Note|On|Only|Or|Our|Please|Say|Send|She|Should|Since|Some|Thank|' +
  'Thanks|That|The|Their|Then|There|These|They|This|Those|Use|We|Well|What|When|Where|Which|' +
  'While|Who|Why|With|Would|Write|Yes|Your';

const missingSpace = new RegExp(`(?<=[\\p{Ll}\\p{N}])\\.(?=(?:${openers})(?:[\\s,!?'’]|$))`, 'gu');

/** The text with the spaces that are missing after a full stop. */
export function withSpaces(text: string): string {
  return text.replace(missingSpace, '. ');
}

/**
 * The steps that a search may still take, at about ten nanoseconds each. Comparing a character
 * takes one. Steps are counted, so that the bound is the same on every machine.
 */
export interface Steps {
  left: number;
}
