/** The usual spellings of a number. */

/** Longer numbers are identifiers, which are not grouped by thousands. */
const mostDigits = 15;

/** `1000` for `1,000.00`, and the reverse; empty if the value is not a number. */
export function numberSpellings(value: string): string[] {
  const parts = partsOf(value);
  if (parts === undefined) return [];
  const { sign, whole, fraction } = parts;
  const spellings: string[] = [];
  const fractions = fraction === '' ? ['', '0', '00'] : [fraction, fraction.padEnd(2, '0')];
  const grouped = (mark: string): string => whole.replace(/\B(?=(?:\d{3})+$)/g, mark);
  for (const end of fractions) {
    const point = end === '' ? '' : `.${end}`;
    const comma = end === '' ? '' : `,${end}`;
    spellings.push(`${sign}${whole}${point}`, `${sign}${grouped(',')}${point}`);
    if (whole.length > 3)
      spellings.push(
        `${sign}${grouped("'")}${point}`,
        `${sign}${grouped(' ')}${point}`,
        ...(end === '' ? [] : [`${sign}${grouped('.')}${comma}`]),
      );
  }
  return spellings;
}

function partsOf(
  value: string,
): { readonly sign: string; readonly whole: string; readonly fraction: string } | undefined {
  if (value.length > 2 * mostDigits) return undefined;
  const plain = /^(-?)(\d+)(?:\.(\d+))?$/.exec(value);
  const english = plain ?? /^(-?)(\d{1,3}(?:[,' ]\d{3})+)(?:\.(\d+))?$/.exec(value);
  const found = english ?? /^(-?)(\d{1,3}(?:\.\d{3})+),(\d+)$/.exec(value);
  if (found === null) return undefined;
  const whole = (found[2] as string).replace(/\D/g, '');
  if (whole.length > mostDigits || /^0\d/.test(whole)) return undefined;
  return { sign: found[1] as string, whole, fraction: (found[3] ?? '').replace(/0+$/, '') };
}
