/** Letters of other scripts that look like Latin ones. */

/**
 * Look-alikes of Latin letters: each Latin letter with the others. A letter whose two cases look
 * like different Latin letters (`Ν` and `ν`: N and v; `Υ` and `υ`: Y and u) is folded by its looks,
 * not by its case.
 */
const letters = new Map<string, string>();
const table =
  'aаАαΑɑ bвВьЬβΒ cсСϲϹ dԁԀ eеЕεΕ fϜϝԲ gɡԌԍ hнНһҺηΗ iіІιΙӀıɩ ' +
  'jјЈϳͿ kкКκΚ lӏ mмМμΜϻϺ nпПΝ oоОοΟσς pрРρΡ qԛԚ rгГ sѕЅ tтТτΤ ' +
  'uυսʋ vνѵѴ wԝԜωѡѠ xхХχΧ yуУүҮγΥ zζΖ';
for (const [latin = '', ...others] of table.split(' '))
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
