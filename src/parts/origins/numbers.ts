/** The usual spellings of a number. */

/** Longer numbers are identifiers, which are not grouped by thousands. */
const maxDigits = 15;

/**
 * `1000` for `1,000.00`, and the reverse; empty if the value is not a number. Zeros at the end of a
 * fraction count where the text may be a version: 2.10 is not 2.1, and 2024.10 is not 2024.1.
 * @param isNumeric whether the value was a number of JSON, which keeps no such zeros
 */
export function numberSpellings(value: string, isNumeric: boolean): string[] {
  const parts = partsOf(value);
  if (parts === undefined) return [];
  const { sign, whole, written } = parts;
  const fraction = written.replace(/0+$/, '');
  const spellings: string[] = [];
  const isAmount = isNumeric || (whole.length > 3 && !/^(?:19|20)\d\d\./.test(value));
  const fractions =
    fraction === '' ? ['', '0', '00'] : isAmount ? [fraction, fraction.padEnd(2, '0')] : [written];
  const grouped = (mark: string): string => whole.replace(/\B(?=(?:\d{3})+$)/g, mark);
  for (const end of fractions) {
    const point = end === '' ? '' : `.${end}`;
    const comma = end === '' ? '' : `,${end}`;
    spellings.push(`${sign}${whole}${point}`, `${sign}${grouped(',')}${point}`);
    // `1,250` rather groups thousands.
    if (end !== '' && end.length !== 3) spellings.push(`${sign}${whole}${comma}`);
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
): { readonly sign: string; readonly whole: string; readonly written: string } | undefined {
  if (value.length > 2 * maxDigits) return undefined;
  const plain = /^(-?)(\d+)(?:\.(\d+))?$/.exec(value);
  const english = plain ?? /^(-?)(\d{1,3}(?:[,' ]\d{3})+)(?:\.(\d+))?$/.exec(value);
  const found = english ?? /^(-?)(\d{1,3}(?:\.\d{3})+|\d+),(\d+)$/.exec(value);
  if (found === null) return undefined;
  const whole = (found[2] as string).replace(/\D/g, '');
  if (whole.length > maxDigits || /^0\d/.test(whole)) return undefined;
  return { sign: found[1] as string, whole, written: found[3] ?? '' };
}
