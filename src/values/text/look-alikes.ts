/** Letters of other scripts that look like Latin ones. */

/**
 * Look-alikes of Latin letters, as pairs of (others, Latin). A letter whose two cases look like
 * different Latin letters (`Ν` and `ν`: N and v; `Υ` and `υ`: Y and u) is folded by its looks, not
 * by its case.
 */
const letters = new Map<string, string>();
for (const [others, latin] of [
  ['аАαΑɑ', 'a'],
  ['вВьЬβΒ', 'b'],
  ['сСϲϹ', 'c'],
  ['ԁԀ', 'd'],
  ['еЕεΕ', 'e'],
  ['ϜϝԲ', 'f'],
  ['ɡԌԍ', 'g'],
  ['нНһҺηΗ', 'h'],
  ['іІιΙӀıɩ', 'i'],
  ['јЈϳͿ', 'j'],
  ['кКκΚ', 'k'],
  ['ӏ', 'l'],
  ['мМμΜϻϺ', 'm'],
  ['пПΝ', 'n'],
  ['оОοΟσς', 'o'],
  ['рРρΡ', 'p'],
  ['ԛԚ', 'q'],
  ['гГ', 'r'],
  ['ѕЅ', 's'],
  ['тТτΤ', 't'],
  ['υսʋ', 'u'],
  ['νѵѴ', 'v'],
  ['ԝԜωѡѠ', 'w'],
  ['хХχΧ', 'x'],
  ['уУүҮγΥ', 'y'],
  ['ζΖ', 'z'],
] as const)
  for (const other of others) letters.set(other, latin);

/** The Latin letter that a letter of another script looks like, in small; undefined if none. */
export function latinLetter(char: string): string | undefined {
  return letters.get(char);
}

const dashes = new Set('‐‑‒–—−');

/** The Latin letter that a character looks like, `_` for a dash, or the character itself. */
export function latinLook(char: string): string {
  return letters.get(char) ?? (dashes.has(char) ? '_' : char);
}

/**
 * A name with letters of other scripts, in the Latin letters that it looks like; undefined if it is
 * ASCII. For matching rules, never for display.
 */
export function latinForm(name: string): string | undefined {
  for (let index = 0; index < name.length; index++) {
    if (name.charCodeAt(index) < 128) continue;
    let form = '';
    for (const char of name.normalize('NFKD')) form += latinLook(char);
    return form;
  }
  return undefined;
}
