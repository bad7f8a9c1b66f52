/** Punycode (RFC 3492), in the direction that not every platform offers. */

const base = 36;
const fewest = 1;
const most = 26;
const skew = 38;
const damp = 700;
const firstBias = 72;
const firstCode = 128;

/** The label that `xn--…` represents; undefined if it is not punycode. */
export function decodePunycode(label: string): string | undefined {
  if (!label.startsWith('xn--') || label.length > 63) return undefined;
  const encoded = label.slice(4);
  const dash = encoded.lastIndexOf('-');
  const output = [...encoded.slice(0, Math.max(dash, 0))].map(
    (char) => char.codePointAt(0) as number,
  );
  let code = firstCode;
  let bias = firstBias;
  let index = 0;
  for (let at = dash + 1; at < encoded.length; ) {
    const before = index;
    let weight = 1;
    for (let place = base; ; place += base) {
      const digit = digitOf(encoded.charCodeAt(at++));
      if (digit === -1) return undefined;
      index += digit * weight;
      const threshold = place <= bias ? fewest : place >= bias + most ? most : place - bias;
      if (digit < threshold) break;
      weight *= base - threshold;
    }
    const length = output.length + 1;
    bias = adapt(index - before, length, before === 0);
    code += Math.floor(index / length);
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return undefined;
    index %= length;
    output.splice(index++, 0, code);
  }
  return String.fromCodePoint(...output);
}

function digitOf(code: number): number {
  if (code >= 48 && code <= 57) return code - 22;
  return code >= 97 && code <= 122 ? code - 97 : -1;
}

function adapt(delta: number, length: number, isFirst: boolean): number {
  let left = Math.floor(isFirst ? delta / damp : delta / 2);
  left += Math.floor(left / length);
  let bias = 0;
  for (; left > ((base - fewest) * most) / 2; bias += base)
    left = Math.floor(left / (base - fewest));
  return bias + Math.floor(((base - fewest + 1) * left) / (left + skew));
}
