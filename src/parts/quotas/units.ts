/**
 * Amounts as whole numbers of units, so that sums are exact and never drift. A number is read as
 * the decimal that it prints as: 0.1 is a tenth, and three of them are 0.3.
 */

/** One, in units: amounts have eighteen decimals. */
export const one: bigint = 10n ** 18n;

/** The most that one amount counts as, in units. No quota allows this much. */
export const maxUnits: bigint = 10n ** 16n * one;

/** The most that a quota may allow. */
export const maxMax: number = Number.MAX_SAFE_INTEGER;

const decimals = 18;

/** The units of a finite number from 0. Digits beyond the last decimal are rounded up. */
export function unitsOf(value: number): bigint {
  if (Number.isSafeInteger(value)) return BigInt(value) * one;
  if (value > maxMax) return maxUnits;
  // The rest beyond the last decimal is rounded up.
  if (value < 1e-18) return value > 0 ? 1n : 0n;
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = BigInt(whole + fraction);
  const shift = Number(exponent) - fraction.length + decimals;
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  const divisor = 10n ** BigInt(-shift);
  return (digits + divisor - 1n) / divisor;
}

/** The units of a whole number from 0. */
export function unitsOfBigInt(value: bigint): bigint {
  return capped(value * one);
}

/** At most {@link maxUnits}. */
export function capped(units: bigint): bigint {
  return units > maxUnits ? maxUnits : units;
}

/** The number that is nearest to an amount. */
export function numberOf(units: bigint): number {
  const text = String(units).padStart(decimals + 1, '0');
  return Number(`${text.slice(0, -decimals)}.${text.slice(-decimals)}`);
}

/** Six decimals are enough for most amounts. */
const shortDecimals = 1e6;
const unitsOfShort: bigint = one / 1_000_000n;
/** Numbers below it are exact, and so is the sum of two of them. */
const maxShort = 1e15;

/**
 * Sums amounts. Those with few decimals are summed as whole numbers, which is a hundred times as
 * fast as summing units.
 */
export class UnitSum {
  #units = 0n;
  #ones = 0;
  #millionths = 0;

  /**
   * Adds a number from 0 with at most six decimals. Returns false for any other number, without
   * adding it.
   */
  addShort(value: number): boolean {
    if (Number.isInteger(value)) {
      if (!(value >= 0 && value < maxShort)) return false;
      this.#ones += value;
    } else {
      const millionths = Math.round(value * shortDecimals);
      // Two decimals of at most 15 digits are never the same number, so it prints as this one.
      if (!(millionths >= 0 && millionths < maxShort && millionths / shortDecimals === value))
        return false;
      this.#millionths += millionths;
    }
    if (this.#ones >= maxShort || this.#millionths >= maxShort) this.#flush();
    return true;
  }

  add(units: bigint): void {
    this.#units += units;
  }

  get units(): bigint {
    this.#flush();
    return this.#units;
  }

  #flush(): void {
    this.#units += BigInt(this.#ones) * one + BigInt(this.#millionths) * unitsOfShort;
    this.#ones = 0;
    this.#millionths = 0;
  }
}
