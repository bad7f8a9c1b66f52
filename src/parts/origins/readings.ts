/** How programs may read a text that is shown or sent. */
import { compatible, visible } from './text.ts';

/**
 * The text in NFKC and without invisible characters, and what a browser makes of it: with its
 * character references replaced, and without the tabs and line ends that an address loses.
 */
export function readingsOf(text: string): string[] {
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
